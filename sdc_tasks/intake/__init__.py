"""From the bytes of an NSI's files to a national table, or to findings with remedies."""

from typing import TYPE_CHECKING

from sdc_tasks.lazily import names_of

if TYPE_CHECKING:
    from sdc_tasks.intake.delivery import Delivery, read, read_bytes, together
    from sdc_tasks.intake.formats.registry import SUFFIXES
    from sdc_tasks.intake.inbox import Inbox, file_bytes, file_content, look, named_content
    from sdc_tasks.intake.sheet import Sheet, most_bytes, read_sheet, sender
else:
    # `intake.tables` reads tables that belong to no domain, and needs none of these.
    __getattr__ = names_of(
        __name__,
        {
            "delivery": ("Delivery", "read", "read_bytes", "together"),
            "formats.registry": ("SUFFIXES",),
            "inbox": ("Inbox", "file_bytes", "file_content", "look", "named_content"),
            "sheet": ("Sheet", "most_bytes", "read_sheet", "sender"),
        },
    )

__all__ = [
    "SUFFIXES",
    "Delivery",
    "Inbox",
    "Sheet",
    "file_bytes",
    "file_content",
    "look",
    "most_bytes",
    "named_content",
    "read",
    "read_bytes",
    "read_sheet",
    "sender",
    "together",
]
