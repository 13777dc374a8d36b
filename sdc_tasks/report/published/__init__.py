"""The files of a release that the world may see: the table in several formats, how it is protected, and
a descriptor with their digests.
"""

from sdc_tasks.report.published.edition import Edition
from sdc_tasks.report.published.files import public_files

__all__ = ["Edition", "public_files"]
