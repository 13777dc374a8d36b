"""Results of steps as bytes in the confidential store, and back: one pair of functions for each type."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, fields, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from sdc_tasks.methods.attack import Requirements
from sdc_tasks.model.problem import Levels, PriorReleases, ProtectionProblem
from sdc_tasks.model.profiles import Adversary
from sdc_tasks.model.results import (
    Adjustment,
    AuditReport,
    CandidateWitnesses,
    Evidence,
    Multipliers,
    Outcome,
    Publication,
    ReceiverSuppression,
    Rung,
    SharedWitnesses,
)
from sdc_tasks.model.secret import Secret
from sdc_tasks.model.table import Aggregate, Beside, CellSpace, Hierarchy
from sdc_tasks.warehouse.forms.packing import pack, unpack

Artefact = (
    ProtectionProblem
    | Requirements
    | Adjustment
    | Publication
    | AuditReport
    | ReceiverSuppression
    | CandidateWitnesses
    | SharedWitnesses
)


# Types, and fields of requirements, that are stored under another name than they have in the program, so
# that artefacts keep their bytes and those of an earlier version can be read.
_TYPE_STORED_AS: dict[type, str] = {
    CandidateWitnesses: "Tables",
    SharedWitnesses: "JointPoints",
    ReceiverSuppression: "Secondaries",
}
_STORED_AS = {"insider": "knower"}


def to_bytes(item: Artefact) -> bytes:
    """The bytes of an artefact. Equal artefacts give equal bytes."""
    header: dict[str, Any] = {"type": _TYPE_STORED_AS.get(type(item), type(item).__name__)}
    arrays: dict[str, Any] = {}
    for each in fields(item):
        value = getattr(item, each.name)
        # An earlier version did not know these fields, and its artefacts keep their bytes.
        unknown_before = value is None and each.name == "levels"
        unknown_before |= each.name in ("weaker", "unjudged", "linked") and not value
        if unknown_before:
            continue
        stored = _STORED_AS.get(each.name, each.name) if isinstance(item, Requirements) else each.name
        parts = _arrays_of(stored, value)
        if parts is None:
            header[stored] = _plain(each.name, value)
        else:
            arrays |= parts
        if isinstance(value, CellSpace) and value.links is not None:
            arrays |= _matrix("links", value.links)
    return pack(header, arrays)


def _arrays_of(name: str, value: Any) -> dict[str, Any] | None:
    """The arrays of a field, by the names under which they are stored; None where it is no array and has
    none.
    """
    match value:
        case np.ndarray():
            return {name: value}
        case Levels() | Multipliers():
            return {f"{name}.{part.name}": getattr(value, part.name) for part in fields(value)}
        case PriorReleases() | Evidence():
            return {f"{name}.{part}": array for part, array in value.arrays.items()}
    return None


def _matrix(name: str, matrix: sp.csr_array) -> dict[str, Any]:
    """A matrix as arrays. scipy chooses 32 or 64 bits for its numbers."""
    indices, indptr = (each.astype(np.int32) for each in (matrix.indices, matrix.indptr))
    shape = np.array(matrix.shape)
    parts = {"data": matrix.data, "indices": indices, "indptr": indptr, "shape": shape}
    return {f"{name}.{part}": array for part, array in parts.items()}


def _plain(name: str, value: Any) -> Any:
    """A field without arrays, as JSON has it."""
    if isinstance(value, CellSpace):
        return _space_told(value)
    if isinstance(value, Secret):
        return value.hex
    if name in ("weaker", "unjudged"):
        return [list(vars(one).values()) if isinstance(one, Adversary) else list(one) for one in value]
    if name == "rungs":
        return [asdict(rung) for rung in value]
    return value


def _space_told(space: CellSpace) -> dict[str, Any]:
    """A space as JSON has it; its links are arrays. A space alone has the bytes that it always had."""
    told = asdict(replace(space, beside=(), links=None))
    del told["beside"], told["links"]
    for hierarchy in told["hierarchies"]:
        if not hierarchy["sums"]:
            del hierarchy["sums"]
    if space.beside:
        told["beside"] = [{"name": each.name, "space": _space_told(each.space)} for each in space.beside]
    return told


def _space_of(told: dict[str, Any], links: dict[str, Any]) -> CellSpace:
    found = None
    if links:
        shape = tuple(links["shape"].tolist())
        found = sp.csr_array((links["data"], links["indices"], links["indptr"]), shape=shape)
    return CellSpace(
        countries=tuple(told["countries"]),
        aggregates=tuple(Aggregate(each["code"], tuple(each["members"])) for each in told["aggregates"]),
        indicators=tuple(told["indicators"]),
        hierarchies=tuple(
            Hierarchy(
                h["dimension"],
                tuple(h["codes"]),
                tuple(h["parent"]),
                tuple((total, tuple(parts)) for total, parts in h.get("sums", ())),
            )
            for h in told["hierarchies"]
        ),
        indicator_relations=tuple((total, tuple(parts)) for total, parts in told["indicator_relations"]),
        beside=tuple(Beside(each["name"], _space_of(each["space"], {})) for each in told.get("beside", ())),
        links=found,
    )


def from_bytes(content: bytes) -> Artefact:
    """The artefact of these bytes. Raises KeyError for a type that this version does not know."""
    header, arrays = unpack(content)
    return _READERS[header.pop("type")](header, arrays)


def _part(prefix: str, arrays: dict[str, Any]) -> dict[str, Any]:
    """The arrays of a part, by their names within it."""
    return {name.removeprefix(prefix): arrays.pop(name) for name in sorted(arrays) if name.startswith(prefix)}


def _requirements(header: dict[str, Any], arrays: dict[str, Any]) -> Requirements:
    why = Multipliers.of(_part("why.", arrays))
    arrays |= {name: arrays.pop(stored) for name, stored in _STORED_AS.items() if stored in arrays}
    weaker = tuple(Adversary(profile, tuple(lacks)) for profile, lacks in header.pop("weaker", ()))
    return Requirements(**{**header, "profiles": tuple(header["profiles"])}, **arrays, why=why, weaker=weaker)


def _problem(header: dict[str, Any], arrays: dict[str, Any]) -> ProtectionProblem:
    earlier, levels, links = (_part(name, arrays) for name in ("earlier.", "levels.", "links."))
    return ProtectionProblem(
        space=_space_of(header["space"], links),
        deliveries=tuple(header["deliveries"]),
        salt=Secret.of_hex(header["salt"])
        if "salt" in header
        else Secret.fresh(),  # an older version had none
        earlier=PriorReleases.of(earlier),
        levels=Levels(**levels) if levels else None,
        **arrays,
    )


def _adjustment(header: dict[str, Any], arrays: dict[str, Any]) -> Adjustment:
    known = {each.name for each in fields(Rung)}  # rungs stored by an earlier version have more fields
    rungs = tuple(
        Rung(**{n: v for n, v in rung.items() if n in known} | {"outcome": Outcome(rung["outcome"])})
        for rung in header["rungs"]
    )
    return Adjustment(arrays.get("x"), rungs)


def _report(header: dict[str, Any], arrays: dict[str, Any]) -> AuditReport:
    tuples = {
        name: tuple(header.get(name, ())) for name in ("profiles", "contradictions", "small", "unclaimed")
    }
    narrow = header.get("narrow")  # an earlier version did not know it
    evidence = Evidence.of(_part("evidence.", arrays))
    tuples["unjudged"] = tuple((profile, cell) for profile, cell in header.get("unjudged", ()))
    told = {**header, **tuples, "narrow": None if narrow is None else tuple(narrow)}
    return AuditReport(**told, **arrays, evidence=evidence)


_READERS: dict[str, Callable[[dict[str, Any], dict[str, Any]], Artefact]] = {
    "ProtectionProblem": _problem,
    "Requirements": _requirements,
    "Adjustment": _adjustment,
    "Publication": lambda header, arrays: Publication(**arrays),
    "AuditReport": _report,
    "Tables": lambda header, arrays: CandidateWitnesses(**header, **arrays),
    "JointPoints": lambda header, arrays: SharedWitnesses(**header, **arrays),
    "Secondaries": lambda header, arrays: ReceiverSuppression(**header, **arrays),
}
