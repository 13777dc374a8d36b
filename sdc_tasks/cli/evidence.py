"""The evidence of an audit as a file: `sdc audit --witnesses` writes it, `sdc
verify-certificate` reads it. It is confidential.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import BadZipFile

from sdc_tasks.errors import InvalidInput

if TYPE_CHECKING:
    from sdc_tasks.model.results import Evidence
    from sdc_tasks.model.secret import Secret


WITNESSES = "write the evidence for `sdc verify-certificate` here; confidential"


def write_evidence(path: Path, salt: Secret, evidence: Evidence, secret: str = "") -> None:
    """Writes the evidence, the salt of the digests in its certificate, and the fingerprint of the secret by
    which the table was drawn, if it was. Only the owner can read the file.
    """
    path.touch(mode=0o600)
    path.chmod(0o600)
    path.write_bytes(_packed(salt, evidence, secret))


def evidence_of(content: bytes) -> tuple[Secret, Evidence, str]:
    """The salt, the evidence and the fingerprint of a witness file. Raises InvalidInput unless the file has
    the form that `sdc audit` writes: the same names and kinds, each once, and its digest.
    """
    from sdc_tasks.model.results import Evidence
    from sdc_tasks.model.secret import Secret
    from sdc_tasks.warehouse.forms.packing import unpack

    try:
        header, arrays = unpack(content)
        salt, evidence, secret = (
            Secret.of_hex(header["salt"]),
            Evidence.of(arrays),
            str(header.get("secret", "")),
        )
        same = _packed(salt, evidence, secret) == content
    except (
        ValueError,
        KeyError,
        TypeError,
        IndexError,
        AttributeError,
        EOFError,
        NotImplementedError,
        BadZipFile,
    ) as error:
        raise InvalidInput(
            "not a witness file. Remedy: give the file that `sdc audit --witnesses` wrote"
        ) from error
    if not same:
        raise InvalidInput(
            "the witness file was changed. Remedy: give the file that `sdc audit --witnesses` wrote"
        )
    return salt, evidence, secret


def _packed(salt: Secret, evidence: Evidence, secret: str) -> bytes:
    from sdc_tasks.warehouse.forms.packing import pack

    header = {"type": "Evidence", "digest": evidence.digest(salt), "salt": salt.hex}
    return pack(header | ({"secret": secret} if secret else {}), evidence.arrays)
