"""What is wrong with a domain file, in words: the key as the file has it, and what may stand there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from sdc_tasks.errors import did_you_mean

# What may stand at a key, in the words of the file rather than of Python.
MAPPING = "keys and values are wanted, such as {key: value}"
WANTED = {
    "model_type": MAPPING,
    "model_attributes_type": MAPPING,
    "dict_type": MAPPING,
    "tuple_type": "a list is wanted, such as [one, two]",
    "list_type": "a list is wanted, such as [one, two]",
    "bool_type": "true or false is wanted",
    "bool_parsing": "true or false is wanted",
    "string_type": "text is wanted; put it between quotation marks",
}


def all_told(errors: Sequence[ErrorDetails], root: type[BaseModel]) -> str:
    """What is wrong, without the consequences: a key that is misspelt is not missing too."""
    unknown = {error["loc"] for error in errors if error["type"] == "extra_forbidden"}

    def follows(error: ErrorDetails) -> bool:
        if error["type"] != "missing":
            return False
        *above, name = error["loc"]
        beside = (each for each in unknown if list(each[:-1]) == above)
        return any(did_you_mean(str(each[-1]), [str(name)]) for each in beside)

    return "; ".join(dict.fromkeys(told(error, root) for error in errors if not follows(error)))


def told(error: ErrorDetails, root: type[BaseModel]) -> str:
    """The key and what is wrong with it; for a key that does not belong there, those that do."""
    keys, models = _place(error["loc"], root)
    said = WANTED.get(error["type"], error["msg"].removeprefix("Value error, "))
    key = ".".join(name for name in keys if "[" not in name)
    text = f"{key}: {said}" if key else said
    if error["type"] == "extra_forbidden" and len(models) == 1:
        [model] = models
        known = sorted(field.alias or name for name, field in model.model_fields.items())
        text += (
            f".{did_you_mean(keys[-1], known)} Remedy: leave {keys[-1]} out (known here: {', '.join(known)})"
        )
    return text


def _place(loc: tuple[int | str, ...], root: type[BaseModel]) -> tuple[list[str], set[type[BaseModel]]]:
    """The keys on the way to an error, as the file has them, and the models one of which the last stands in.
    pydantic puts the kind or method of a rule, rung or rounding among the keys.
    """
    keys: list[str] = []
    models: set[type[BaseModel]] = {root}
    for part in loc:
        chosen = {model for model in models if len(models) > 1 and _is_kind(model, part)}
        if not chosen:
            keys.append(str(part))
        if part is not loc[-1]:
            models = chosen or _below(models, str(part)) or models
    return keys, models


def _below(models: set[type[BaseModel]], key: str) -> set[type[BaseModel]]:
    """The models of what may stand at a key."""
    fields = [model.model_fields[key] for model in models if key in model.model_fields]
    return {found for field in fields for found in _models(field.annotation)}


def _is_kind(model: type[BaseModel], part: int | str) -> bool:
    return any(
        get_origin(field.annotation) is Literal and part in get_args(field.annotation)
        for field in model.model_fields.values()
    )


def _models(annotation: Any) -> set[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return {annotation}
    return {found for each in get_args(annotation) for found in _models(each)}
