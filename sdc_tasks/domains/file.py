"""Reads domain files. A domain is found by name (`sbs` → `sdc_tasks/domains/sbs.yaml`) or by the path of its
file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from pydantic import ValidationError

from sdc_tasks.domains.messages import all_told
from sdc_tasks.domains.schema import HERE, Domain
from sdc_tasks.errors import InvalidInput
from sdc_tasks.untrusted import opened_regular, settings_text

FILE_BYTES = 1 << 20
DEEPEST = 20  # levels of a domain file
REMEMBERED = 8  # domains of this process


class _UniqueKeys(yaml.CSafeLoader):
    """YAML lets the last of two equal keys count: a flag could lose its protection
    without a word. Here it is an error.
    """

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[Any] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise yaml.constructor.ConstructorError(None, None, "a key must be a word", key.start_mark)
            name = self.construct_object(key, deep=True)
            if name in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"key {name} stands twice", key.start_mark
                )
            seen.add(name)
        return super().construct_mapping(node, deep)


def _refuse_tangles(text: str) -> None:
    """Refuses brackets in brackets without end, and names for pieces that are then repeated:
    both make much of a small file.
    """
    depth = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.AliasEvent):
            raise yaml.YAMLError(f"a reference to another place, {event.start_mark}: write it out")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise yaml.YAMLError(f"more than {DEEPEST} levels, {event.start_mark}")


def load_domain(id_or_path: str | Path) -> Domain:
    """The domain of that name, or of that file. Raises InvalidInput naming the file, the key and what is
    allowed.
    """
    path = Path(id_or_path)
    if path.suffix not in {".yaml", ".yml"}:
        path = HERE / f"{id_or_path}.yaml"
        if not path.is_file():
            raise InvalidInput(
                f"no domain named {id_or_path}; known: {', '.join(known_domains())} (or give the path of a "
                f".yaml file)"
            )
    text = settings_text(path, FILE_BYTES, "domain file")
    here = (path, path.absolute())
    last = _last.get(here)
    if last is not None and last.text == text and last.beside == _digests(last.domain.beside(path.parent)):
        return last.domain
    domain = _stated(path, text)
    beside = _digests(domain.beside(path.parent))
    domain.settle(path)
    if beside is not None and beside == _digests(
        domain.beside(path.parent)
    ):  # nothing changed while it was read
        _last.pop(here, None)
        _last[here] = _Loaded(text, beside, domain)
        for oldest in [*_last][:-REMEMBERED]:
            _last.pop(oldest, None)
    return domain


class _Loaded(NamedTuple):
    """A domain, the text of its file, and digests of the files beside it."""

    text: str
    beside: tuple[str, ...]
    domain: Domain


# The domains that were loaded last, by the path that was given and where it led: each step of a
# release asks for its domain again. A domain is frozen. It is given again only while all its files
# have the content that it was made of.
_last: dict[tuple[Path, Path], _Loaded] = {}


def _digests(paths: Iterable[Path]) -> tuple[str, ...] | None:
    """The sha256 of each file; None where one cannot be read, or is a folder."""
    found = []
    for path in paths:
        try:
            with opened_regular(path, follow=True) as stream:
                found.append(hashlib.sha256(stream.read()).hexdigest())
        except OSError:
            return None
    return tuple(found)


def _stated(path: Path, text: str) -> Domain:
    """What a domain file says, before its code lists are looked at."""
    try:
        _refuse_tangles(text)
        return Domain.model_validate(yaml.load(text, Loader=_UniqueKeys))
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        if isinstance(error, ValidationError):
            raise InvalidInput(f"{path}: {all_told(error.errors(), Domain)}") from error
        raise InvalidInput(f"{path}: not YAML: {error}") from error


def place_of(file: Path, *keys: str) -> str:
    """A domain file, the line of the last of these nested keys, and the keys. In a list, the item of that
    name. Without a line where the file is gone, or has no such key.
    """
    told = f"{file}: {'.'.join(keys[:-1])}: {keys[-1]}"
    try:
        node, line = yaml.compose(settings_text(file, FILE_BYTES, "domain file"), Loader=yaml.CSafeLoader), 0
    except (InvalidInput, yaml.YAMLError):
        return told
    for key in keys:
        found = next((each for each in _below(node) if each[0].value == key), None)
        if found is None:
            return told
        line, node = found[0].start_mark.line + 1, found[1]
    return f"{file}, line {line}{told.removeprefix(str(file))}"


def _below(node: yaml.Node | None) -> list[tuple[yaml.Node, yaml.Node]]:
    """The keys of a mapping with their values, or the items of a list, each beside itself."""
    if isinstance(node, yaml.MappingNode):
        return list(node.value)
    return [(each, each) for each in node.value] if isinstance(node, yaml.SequenceNode) else []


def known_domains() -> list[str]:
    """Names of the domains shipped in this folder: a new file here is a new domain, and a new DAG."""
    return sorted(path.stem for path in HERE.glob("*.yaml"))
