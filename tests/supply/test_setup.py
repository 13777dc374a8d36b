"""`make setup` behind the mirror and the certificate of an office: what makes pip work makes it work."""

from __future__ import annotations

import base64
import datetime
import hashlib
import ipaddress
import os
import re
import ssl
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from support.supply.as_pip import settings_of_pip, variables
from support.supply.lock import ROOT

NAME = "sdc-nothing"
WHEEL = "sdc_nothing-1.0-py3-none-any.whl"


@dataclass(frozen=True)
class Mirror:
    """An index that only this machine has, and the authority without which nobody trusts it."""

    address: str
    certificate: Path
    lock: Path


def certified(folder: Path) -> tuple[Path, Path, Path]:
    """The certificate of an office's own authority, and one of 127.0.0.1 that it signed, with its key."""
    keys = [ec.generate_private_key(ec.SECP256R1()) for _ in range(2)]
    names = [x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, each)]) for each in ("an office", "mirror")]
    now = datetime.datetime.now(datetime.UTC)
    address = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    for i, name in enumerate(("office.pem", "mirror.pem")):
        made = (
            x509.CertificateBuilder()
            .subject_name(names[i])
            .issuer_name(names[0])
            .public_key(keys[i].public_key())
            .serial_number(i + 1)
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=1))
            .add_extension(address, critical=False)
            .add_extension(x509.BasicConstraints(ca=i == 0, path_length=None), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(keys[i].public_key()), critical=False)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(keys[0].public_key()), critical=False
            )
            .sign(keys[0], hashes.SHA256())
        )
        (folder / name).write_bytes(made.public_bytes(serialization.Encoding.PEM))
    form = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    (folder / "key.pem").write_bytes(keys[1].private_bytes(serialization.Encoding.PEM, *form))
    return folder / "office.pem", folder / "mirror.pem", folder / "key.pem"


def wheel(folder: Path) -> str:
    """A package that holds nothing, and the digest of its file."""
    info = f"{WHEEL.partition('-')[0]}-1.0.dist-info"
    files = {
        "sdc_nothing.py": "",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {NAME}\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    with zipfile.ZipFile(folder / WHEEL, "w") as packed:
        lines = []
        for name, text in files.items():
            packed.writestr(name, text)
            digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
            lines.append(f"{name},sha256={digest},{len(text)}")
        packed.writestr(f"{info}/RECORD", "\n".join([*lines, f"{info}/RECORD,,", ""]))
    return hashlib.sha256((folder / WHEEL).read_bytes()).hexdigest()


class Silent(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def mirror(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mirror]:
    folder = tmp_path_factory.mktemp("mirror")
    office, certificate, key = certified(folder)
    shelf = folder / "served" / "simple" / NAME
    shelf.mkdir(parents=True)
    digest = wheel(shelf)
    (shelf / "index.html").write_text(f'<a href="{WHEEL}#sha256={digest}">{WHEEL}</a>')
    lock = folder / "a.lock"
    lock.write_text(f"{NAME}==1.0 \\\n    --hash=sha256:{digest}\n")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Silent, directory=str(folder / "served")))
    secured = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    secured.load_cert_chain(certificate, key)
    server.socket = secured.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield Mirror(f"https://127.0.0.1:{server.server_port}/simple", office, lock)
    server.shutdown()
    thread.join()
    server.server_close()


def installing(mirror: Mirror, home: Path, *program: str) -> subprocess.CompletedProcess[str]:
    """Installs the lock as `make setup` does, in an empty home with pip's settings alone."""
    (home / "pip.conf").write_text(f"[global]\nindex-url = {mirror.address}\ncert = {mirror.certificate}\n")
    kept = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT / "tests")}
    of_the_home = {"HOME": str(home), "PIP_CONFIG_FILE": str(home / "pip.conf"), "UV_NO_CONFIG": "1"}
    asked = ["pip", "install", "--target", "t", "--require-hashes", "--no-deps", "--only-binary", ":all:"]
    return subprocess.run(
        [sys.executable, *program, *asked, "--requirement", str(mirror.lock)],
        capture_output=True,
        text=True,
        check=False,
        cwd=home,
        env={**kept, **of_the_home, "UV_CACHE_DIR": str(home / "cache"), "UV_PYTHON": sys.executable},
    )


UV = "import os, sys; os.execv(os.path.join(os.path.dirname(sys.executable), 'uv'), ['uv', *sys.argv[1:]])"


def test_what_pip_knows_of_a_mirror_and_its_certificate_uv_is_told(mirror, tmp_path):
    done = installing(mirror, tmp_path, "-m", "support.supply.as_pip")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "t" / "sdc_nothing.py").exists()


def test_uv_alone_does_not_reach_that_mirror(mirror, tmp_path):
    """Else the test above would show nothing."""
    assert installing(mirror, tmp_path, "-c", UV).returncode != 0
    assert not (tmp_path / "t" / "sdc_nothing.py").exists()


def test_settings_are_those_that_pip_would_take():
    told = (
        "global.index-url='https://a/simple'\nglobal.proxy='http://p:3128'\ninstall.index-url='https://b/simple'\n"
        "global.extra-index-url='https://c/simple\\nhttps://d/simple'\ndownload.no-index='1'\n"
        ":env:.cert='/etc/office.pem'\nglobal.cert='/etc/ssl/all.pem'\nglobal.timeout='60'\n"
    )
    settings = settings_of_pip(told)
    assert variables(settings, {}) == {
        "UV_INDEX_URL": "https://b/simple",
        "UV_EXTRA_INDEX_URL": "https://c/simple https://d/simple",
        "UV_INDEX_STRATEGY": "unsafe-best-match",
        "SSL_CERT_FILE": "/etc/office.pem",
        "UV_HTTP_TIMEOUT": "60",
        "HTTPS_PROXY": "http://p:3128",
        "HTTP_PROXY": "http://p:3128",
    }
    assert variables({}, {}) == {"UV_SYSTEM_CERTS": "1"}
    assert variables({"no-index": "true", "cert": "a"}, {}) == {"UV_NO_INDEX": "1", "SSL_CERT_FILE": "a"}
    given = {"UV_INDEX_URL": "https://own/simple", "SSL_CERT_FILE": "own.pem"}
    assert not variables(settings, given).keys() & given.keys()


def test_setup_installs_by_them_and_by_pip_where_uv_fails():
    """Both are told to take the hashes of the lock."""
    made = (ROOT / "Makefile").read_text(encoding="utf-8")
    recipe = re.search(r"^\$\(READY\):.*\n((?:\t.*\n)+)", made, flags=re.MULTILINE)
    assert recipe is not None
    steps = recipe[1].replace("\\\n", "")
    assert re.search(r"-m support\.supply\.as_pip pip sync .*\|\|.*-m pip install", steps)
    assert len(re.findall(r'echo "\[\d/3\]', steps)) == 3
    later = re.search(
        r"^\$\(VENV\)/\.ready-%: requirements-%\.lock \$\(READY\)\n((?:\t.*\n)+)", made, flags=re.MULTILINE
    )
    assert later is not None
    assert re.search(
        r"-m support\.supply\.as_pip pip install .*\|\|.*-m pip install", later[1].replace("\\\n", "")
    )


def asked_for(target: str) -> set[str]:
    """The lock files that make would install for this target where nothing is installed."""
    alone = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS")}
    told = subprocess.run(
        ["make", "--dry-run", "--always-make", target],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env=alone,
    ).stdout
    return set(re.findall(r"--require-hashes(?: --no-deps --requirement)? (requirements\S*\.lock)", told))


@pytest.mark.parametrize(
    ("target", "later"),
    [
        ("setup", set()),
        ("tests", set()),
        ("docs", {"docs"}),
        ("test-stack", {"browser"}),
        ("setup-all", {"docs", "browser"}),
        ("test-beyond", {"docs", "browser"}),
    ],
)
def test_what_few_need_is_installed_where_it_is_asked_for(target, later):
    assert asked_for(target) == {"requirements-dev.lock", *(f"requirements-{each}.lock" for each in later)}
