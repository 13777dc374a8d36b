"""Reads domain files. A domain is found by name (`sbs` → `sdc_tasks/domains/sbs.yaml`) or by the path of its file."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from sdc_tasks.domains.messages import told
from sdc_tasks.domains.schema import HERE, Domain
from sdc_tasks.errors import InvalidInput
from sdc_tasks.untrusted import settings_text

FILE_BYTES = 1 << 20
DEEPEST = 20  # levels of a domain file


class _UniqueKeys(yaml.CSafeLoader):
    """YAML lets the last of two equal keys count: a flag could lose its protection without a word. Here it is an error."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[Any] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise yaml.constructor.ConstructorError(None, None, "a key must be a word", key.start_mark)
            name = self.construct_object(key, deep=True)
            if name in seen:
                raise yaml.constructor.ConstructorError(None, None, f"key {name} stands twice", key.start_mark)
            seen.add(name)
        return super().construct_mapping(node, deep)


def _refuse_tangles(text: str) -> None:
    """Refuses brackets in brackets without end, and names for pieces that are then repeated: both make much of a small file."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.AliasEvent):
            raise yaml.YAMLError(f"a reference to another place, {event.start_mark}: write it out")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise yaml.YAMLError(f"more than {DEEPEST} levels, {event.start_mark}")


def load_domain(id_or_path: str | Path) -> Domain:
    """The domain of that name, or of that file. Raises InvalidInput naming the file, the key and what is allowed."""
    path = Path(id_or_path)
    if path.suffix not in {".yaml", ".yml"}:
        path = HERE / f"{id_or_path}.yaml"
        if not path.is_file():
            raise InvalidInput(f"no domain named {id_or_path}; known: {', '.join(known_domains())} (or give the path of a .yaml file)")
    text = settings_text(path, FILE_BYTES, "domain file")
    try:
        _refuse_tangles(text)
        domain = Domain.model_validate(yaml.load(text, Loader=_UniqueKeys))
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        if isinstance(error, ValidationError):
            raise InvalidInput(f"{path}: {'; '.join(told(e, Domain) for e in error.errors())}") from error
        raise InvalidInput(f"{path}: not YAML: {error}") from error
    domain.settle(path.parent)
    return domain


def known_domains() -> list[str]:
    """Names of the domains shipped in this folder: a new file here is a new domain, and a new DAG."""
    return sorted(path.stem for path in HERE.glob("*.yaml"))
