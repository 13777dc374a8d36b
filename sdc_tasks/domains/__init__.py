"""Domains are data: a YAML file and its code lists."""

from typing import TYPE_CHECKING

from sdc_tasks.lazily import names_of

if TYPE_CHECKING:
    from sdc_tasks.domains.file import known_domains, load_domain
    from sdc_tasks.domains.schema import Domain
else:
    # A table that belongs to no domain needs neither YAML nor pydantic.
    __getattr__ = names_of(
        __name__,
        {
            "file": ("known_domains", "load_domain"),
            "schema": ("Domain",),
        },
    )

__all__ = ["Domain", "known_domains", "load_domain"]
