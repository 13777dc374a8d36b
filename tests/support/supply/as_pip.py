"""uv with the settings of pip: where pip reaches its index, through a mirror, a proxy or a certificate of the
office, so does what `make setup` installs. uv reads none of pip's files or variables.

    python -m support.supply.as_pip pip sync …

What this does not translate, such as a keyring, is left to pip itself, which installs the same lock: `make
setup` calls it where uv fails. Only the standard library: nothing else is installed yet.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

# Setting of pip → variable of uv; several addresses have spaces between them.
SAME = {
    "index-url": "UV_INDEX_URL",
    "extra-index-url": "UV_EXTRA_INDEX_URL",
    "find-links": "UV_FIND_LINKS",
    "cert": "SSL_CERT_FILE",
    "client-cert": "SSL_CLIENT_CERT",
    "trusted-host": "UV_INSECURE_HOST",
    "timeout": "UV_HTTP_TIMEOUT",
    "default-timeout": "UV_HTTP_TIMEOUT",
}
# Those that hold no value but whether.
WHETHER = {"no-index": "UV_NO_INDEX"}
COMMANDS = (
    "global",
    "install",
    ":env:",
)  # where pip looks for the settings of an installation; the last wins


def settings_of_pip(told: str) -> dict[str, str]:
    """The settings of `pip config list`, lines such as global.index-url='https://…'."""
    found: dict[tuple[int, str], str] = {}
    for line in told.splitlines():
        name, _, value = line.partition("=")
        section, _, key = name.rpartition(".")
        if section in COMMANDS:
            found[COMMANDS.index(section), key] = str(ast.literal_eval(value))
    return {key: value for (_, key), value in sorted(found.items())}


def variables(settings: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    """The variables of uv that say the same, but those that somebody has given to uv itself."""
    asked = {name: " ".join(settings[key].split()) for key, name in SAME.items() if settings.get(key)}
    if settings.get("proxy"):
        asked |= {"HTTPS_PROXY": settings["proxy"], "HTTP_PROXY": settings["proxy"]}
    asked |= {
        name: "1"
        for key, name in WHETHER.items()
        if settings.get(key, "").lower() in ("1", "y", "yes", "true", "t", "on")
    }
    # pip takes the best file of all indexes; the hashes of the lock say which one that may be.
    asked |= {"UV_INDEX_STRATEGY": "unsafe-best-match"} if "UV_EXTRA_INDEX_URL" in asked else {}
    # pip trusts what the system trusts.
    asked |= {} if "SSL_CERT_FILE" in asked else {"UV_SYSTEM_CERTS": "1"}
    return {name: value for name, value in asked.items() if not given.get(name)}


def environment() -> dict[str, str]:
    """That of this process, with the settings of pip for uv."""
    pip = [sys.executable, "-m", "pip", "config", "list"]
    told = subprocess.run(pip, capture_output=True, text=True, check=True).stdout
    return {**os.environ, **variables(settings_of_pip(told), os.environ)}


if __name__ == "__main__":
    program = Path(sys.executable).with_name("uv")
    os.execve(program, [str(program), *sys.argv[1:]], environment())
