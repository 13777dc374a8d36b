"""The options of a domain file for controlled tabular adjustment: the weights, and the ladder of methods."""

from __future__ import annotations

from pydantic import Field, model_validator

from sdc_tasks.methods.cta.names import METHODS, NOT_OF_ALL, Method
from sdc_tasks.model.strict import Strict
from sdc_tasks.model.weights import Weights
from sdc_tasks.solver.names import SolverName


class RungOptions(Strict):
    """One rung of the ladder. It ends by counted work, the same on any machine: `rounds` or
    `nodes`, depending on its method.

    `seconds`: a rung that takes longer returns nothing and stops the release, which can be run again.
    """

    method: Method = Field(description="how to search; methods/cta/engine.py says what each does")
    solver: SolverName = Field(
        default="cbc",
        description="auto, milp: who solves the mixed-integer model; not highs as in `sdc cta`: the tables "
        "of a domain file that names none depend on it",
    )
    seconds: float = Field(
        default=1800.0, gt=0, description="a rung that takes longer stops the release, which can be run again"
    )
    rounds: int | None = Field(
        default=None, ge=0, description="auto: batches of regions; bcd: cycles; benders: choices of senses"
    )
    nodes: int | None = Field(default=None, ge=0, description="milp: of the search tree")
    gap: float = Field(
        default=0.02,
        ge=0,
        description="a table proven to be no further from the best, relative, ends the search",
    )
    accept_gap: float = Field(
        default=0.25, ge=0, description="a feasible table with a larger gap sends us to the next rung"
    )
    blocks: int = Field(default=12, ge=1, description="bcd, fix-and-relax: blocks of a partition")
    polygon: bool = Field(
        default=True, description="milp, bcd, fix-and-relax: valid inequalities in the MILPs"
    )

    @model_validator(mode="after")
    def _ends_by_work(self) -> RungOptions:
        end = METHODS[self.method].ended_by
        for name in ("rounds", "nodes"):
            if name == end and getattr(self, name) is None:
                raise ValueError(
                    f"{self.method}: {name} must be set to end it; no clock may, because equal input must "
                    f"give equal releases"
                )
            if name != end and getattr(self, name) is not None:
                raise ValueError(
                    f"{self.method}: {name} do not end it"
                    + (f", but {end} do" if end else "; it ends by itself")
                )
        self._refuse_options_of_others()
        return self

    def _refuse_options_of_others(self) -> None:
        for name in NOT_OF_ALL:
            if name in self.model_fields_set and name not in METHODS[self.method].takes:
                methods = ", ".join(method for method, traits in METHODS.items() if name in traits.takes)
                raise ValueError(f"{self.method}: it has no {name}, only {methods}. Remedy: leave {name} out")


class CtaOptions(Strict):
    """Controlled tabular adjustment: weights and the ladder of fallbacks, tried in order. An empty
    ladder: audit-driven bases alone.
    """

    weights: Weights = Field(
        default=Weights.INVERSE_SQRT,
        description="what moving a cell by one costs: one, inverse, inverse_sqrt, depth",
    )
    gamma: float = Field(default=2.0, gt=0, description="γ of weights: depth")
    seed: int = Field(default=1, description="of the searches")
    mirror: bool = Field(
        default=False,
        description="ask for a table whose mirror image is one too; most real releases have none",
    )
    accept_short: float = Field(
        default=0.0, ge=0, le=1, description="share of sensitive cells a table for the bases may leave short"
    )
    ladder: tuple[RungOptions, ...] = Field(
        default=(), description="the methods, tried in order until one is good enough"
    )
