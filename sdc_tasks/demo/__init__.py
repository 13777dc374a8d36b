"""Synthetic national deliveries of the paper's size: `write_demo` makes them, seeded and byte-stable."""

from sdc_tasks.demo.shape import write_domain
from sdc_tasks.demo.statistic import StatisticShape, write_statistic
from sdc_tasks.demo.writer import write_deliveries, write_demo

__all__ = ["StatisticShape", "write_deliveries", "write_demo", "write_domain", "write_statistic"]
