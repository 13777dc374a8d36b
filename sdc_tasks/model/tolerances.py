"""The tolerances of the whole package: every number up to 1e-4 by which arithmetic may miss, and their order.

All are relative, to what is said beside each. The order (`ORDER`) is what proofs rest on:

- What sums of floats lose is smaller than everything else, or rounding would decide.
- A solver is more exact than the search that reads its point, and the search at least as strict as the judge:
  what a search calls met, feasible or whole, the judge must too, or a true result is refused.
- The judge's tolerances stay below what matters to a user of the data. They are no freedom for the search.
- A cut is added only where it is violated by more than the solver's tolerance: the master program would
  return the same point again, without end.

Larger numbers that look alike (a gap of 1e-3, the gain at which a search changes its neighbourhood) are
options of a search: no proof needs them, and they stand where they are used.
"""

from __future__ import annotations

from typing import NamedTuple

# arithmetic
TINY = 1e-300  # absolute: replaces a divisor of 0, where the quotient is only compared or ranked
EPSILON = 1e-14  # of the terms: rounding of a few operations (unit roundoff is 1.1e-16)
ROUNDING = 1e-12  # of the sum of |terms|: rounding of long sums and products; 10 of it where rows were solved

# numbers made by a factorisation, an LP or a printer
ZERO = 1e-9  # of the largest entry, the level or the need: a smaller entry, deviation or remainder is 0
DUAL = 1e-9  # of the cost: a smaller multiplier or reduced cost is 0; bounds and cuts hold for any
SAME = 1e-9  # of the value: one number, computed in two ways, or printed and read again
IMPROVEMENT = 1e-9  # of the cost or the bound: an incumbent or a bound that gains less is not replaced
RIDGE = 1e-9  # of the diagonal: added to a matrix so that its factorisation exists
RANK = 1e-7  # of unit vectors: a smaller pivot or difference of random readings means linear dependence

# solvers and searches
SOLVER = 1e-7  # of the scaled rows, bounds and costs: default feasibility tolerances of HiGHS
FEASIBILITY = 1e-6  # of a level, of the unit of an LP, or of a relation's largest term: what counts as met
INTEGRALITY = 1e-6  # of one (a unit, a step of a grid, a last decimal): what counts as a whole number
OPTIMALITY = 1e-6  # of the cost: bound and cost this close prove each other; a bound may exceed a cost by it
VIOLATION = 1e-5  # of a need or the right-hand side: a cut is added if it is violated by more
TIE_BREAK = 1e-4  # of the usual cost: price of what costs nothing, so that of equal optima one is preferred
GAP = 1e-4  # of the cost: default gap at which a search ends; a search that cannot prove less uses a tenth

# the judge, and what matters to a user
JUDGED_LEVEL = 1.001e-6  # of a level: what the judge calls met; above FEASIBILITY by what sums may lose
JUDGED_INTEGRALITY = 1e-5  # of one: what the judge calls a whole number
JUDGED_MISS = 2e-4  # of a requirement: by how much its witness may miss relations and bounds
NOTICEABLE = 1e-4  # of a value, level or share: a user would notice; shares are reported in such steps


class Order(NamedTuple):
    """`times` · `smaller` < `larger`, by name, and the reason. `times`: the largest multiple in use."""

    smaller: str
    larger: str
    why: str
    times: float = 1


ORDER = (
    Order("TINY", "EPSILON", "what replaces a divisor of 0 is no number that arithmetic leaves"),
    Order("EPSILON", "ROUNDING", "long sums lose more than a few operations"),
    Order("ROUNDING", "ZERO", "an entry that rounding alone has made is 0", 10),
    Order("ROUNDING", "DUAL", "a reduced cost that rounding alone has made is 0", 10),
    Order("ROUNDING", "SAME", "one number, summed in two orders, is one", 10),
    Order("ROUNDING", "IMPROVEMENT", "rounding of a cost is no gain: searches would cycle", 10),
    Order("ROUNDING", "RIDGE", "a ridge below the rounding of a matrix leaves it singular", 10),
    Order("ZERO", "SOLVER", "a point whose small entries were set to 0 is still feasible for its LP", 10),
    Order("RIDGE", "RANK", "inverse iteration shrinks all but null vectors to 10 ridges", 10),
    Order("RANK", "FEASIBILITY", "dependence is decided before a move is called lost"),
    Order("DUAL", "VIOLATION", "a cut without its small multipliers is still violated"),
    Order("SAME", "FEASIBILITY", "printing and reading a number never makes a met level unmet"),
    Order("SAME", "INTEGRALITY", "what is the same number as a whole one is whole"),
    Order("SOLVER", "FEASIBILITY", "what an LP reaches within its tolerance counts as met", 2),
    Order("SOLVER", "INTEGRALITY", "what a MILP returns within its tolerance is whole"),
    Order("SOLVER", "OPTIMALITY", "an LP solved to the end proves its own cost"),
    Order("SOLVER", "VIOLATION", "the master keeps cuts within its tolerance: others would return for ever"),
    Order("SOLVER", "TIE_BREAK", "a solver must see the price that breaks a tie; the least is a 100th", 100),
    Order("FEASIBILITY", "VIOLATION", "no cut is made from a need that counts as met"),
    Order("IMPROVEMENT", "OPTIMALITY", "a search ends on its proof, not for want of gains that count"),
    Order("OPTIMALITY", "GAP", "a gap that is asked for can be proven; some ask for a 10th", 10),
    Order("FEASIBILITY", "JUDGED_LEVEL", "what a search calls met the judge calls met"),
    Order("FEASIBILITY", "JUDGED_MISS", "witnesses pass the judge, for levels from a 100th of the unit", 100),
    Order("INTEGRALITY", "JUDGED_INTEGRALITY", "what a search calls whole the judge calls whole"),
    Order("DUAL", "JUDGED_LEVEL", "rounded multipliers prove the bound that the judge recomputes"),
    Order("JUDGED_LEVEL", "NOTICEABLE", "no user can tell a level that was accepted from one met", 10),
    Order("JUDGED_INTEGRALITY", "NOTICEABLE", "no count that matters is rounded away"),
)
