"""From the bytes an NSI sent to a national table, or to findings it can act on."""

from sdc_tasks.intake.delivery import Delivery, most_bytes, read, read_bytes
from sdc_tasks.intake.inbox import SUFFIXES, Inbox, file_bytes, look

__all__ = ["SUFFIXES", "Delivery", "Inbox", "file_bytes", "look", "most_bytes", "read", "read_bytes"]
