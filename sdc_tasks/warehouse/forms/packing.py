"""Named arrays as bytes, the same bytes for the same arrays. Steps store their results in this form, under a
digest.

The format is that of numpy's `.npz` (readable with `numpy.load`) with a JSON header beside the arrays,
uncompressed and without time stamps, entries in alphabetical order. No pickle, in or out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from io import BytesIO
from typing import Any
from zipfile import ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import numpy as np
import numpy.typing as npt

HEADER = "header.json"
KINDS = "biufU"  # booleans, integers, floats, text
NO_TIME = (1980, 1, 1, 0, 0, 0)

Arrays = dict[str, npt.NDArray[Any]]


def pack(header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> bytes:
    """The bytes of a header (JSON, finite numbers) and of arrays of booleans, numbers or
    text. Raises TypeError for others.
    """
    entries = {HEADER: json.dumps(dict(header), sort_keys=True, ensure_ascii=False, allow_nan=False).encode()}
    for name, array in arrays.items():
        if array.dtype.kind not in KINDS:
            raise TypeError(f"array {name}: cannot pack dtype {array.dtype}")
        entry = BytesIO()
        np.lib.format.write_array(entry, _canonical(array), version=(2, 0), allow_pickle=False)
        entries[f"{name}.npy"] = entry.getvalue()
    content = BytesIO()
    with ZipFile(content, "w") as archive:
        for name in sorted(entries):
            archive.writestr(ZipInfo(name, date_time=NO_TIME), entries[name])
    return content.getvalue()


def unpack(content: bytes) -> tuple[dict[str, Any], Arrays]:
    """The header and the arrays, read-only. Raises BadZipFile for a compressed entry: `pack` compresses none,
    and a compressed entry could unpack to any size.
    """
    with ZipFile(BytesIO(content)) as archive:
        if any(
            entry.compress_type != ZIP_STORED or entry.file_size > len(content)
            for entry in archive.infolist()
        ):
            raise BadZipFile("a compressed entry")
        header = json.loads(archive.read(HEADER))
        arrays = {
            name.removesuffix(".npy"): np.lib.format.read_array(
                BytesIO(archive.read(name)), allow_pickle=False
            )
            for name in archive.namelist()
            if name != HEADER
        }
    for array in arrays.values():
        array.flags.writeable = False
    return header, arrays


def _canonical(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """C order and little endian, so that equal arrays are equal bytes."""
    return np.asarray(array, dtype=array.dtype.newbyteorder("<"), order="C")
