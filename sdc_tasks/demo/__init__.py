"""Synthetic national deliveries of the paper's size: `write_demo` makes them, seeded and byte-stable."""

from sdc_tasks.demo.writer import write_demo

__all__ = ["write_demo"]
