"""Domains are data: a YAML file and its code lists."""

from sdc_tasks.domains.schema import Domain, known_domains, load_domain

__all__ = ["Domain", "known_domains", "load_domain"]
