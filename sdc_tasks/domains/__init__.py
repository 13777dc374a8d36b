"""Domains are data: a YAML file and its code lists."""

from sdc_tasks.domains.file import known_domains, load_domain
from sdc_tasks.domains.schema import Domain

__all__ = ["Domain", "known_domains", "load_domain"]
