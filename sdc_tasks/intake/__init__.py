"""From the bytes an NSI sent to a national table, or to findings it can act on."""

from sdc_tasks.intake.delivery import Delivery, file_bytes, read, read_bytes

__all__ = ["Delivery", "file_bytes", "read", "read_bytes"]
