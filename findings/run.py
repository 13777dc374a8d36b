"""Runs the findings, or those named, and says which behave as they state; writes README.md from their first
lines.

python findings/run.py [NAME …]      runs them; ends with 1 if one has changed
python findings/run.py --readme      writes README.md
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
README = HERE / "README.md"
WHY = "Why it matters: "
TOP = """<!-- Made by findings/run.py from the first lines of the scripts. Change them there. -->

# Findings

What libraries, solvers and formats of this field do that one would guess otherwise. Each script makes a
temporary folder, installs public packages there at a fixed version, and runs them on invented input, without
this program. It prints what it saw, and fails if that is no longer so. `make findings` runs all of them
(`ARGS="NAME …"` some); they need a package index, and no test of the project runs them.

| script | what happens | why it matters |
|---|---|---|
"""


@dataclass(frozen=True)
class Finding:
    """A script, and what its first lines state: with which version what happens, and why it matters."""

    script: Path
    behaviour: str
    why: str

    @property
    def name(self) -> str:
        return self.script.stem


def read(script: Path) -> Finding:
    """What the first lines of a script state. Raises ValueError where they do not have the form."""
    head = re.match(r"#!/usr/bin/env bash\n((?:# .+\n)+)", script.read_text(encoding="utf-8"))
    stated = " ".join(line.removeprefix("# ") for line in head[1].splitlines()) if head else ""
    behaviour, found, why = stated.partition(f" {WHY}")
    if not found or not re.match(r"[^:]*\d+\.\d+[^:]*: ", behaviour):
        raise ValueError(
            f"{script.name}: the first lines do not state a finding. Remedy: after #!/usr/bin/env bash a "
            f"comment '# PACKAGE VERSION: what happens', and then '# {WHY}…'"
        )
    return Finding(script, behaviour, why)


def findings(folder: Path = HERE) -> list[Finding]:
    """Those of the folder, by name."""
    return [read(script) for script in sorted(folder.glob("*.sh"))]


def readme(known: list[Finding]) -> str:
    """The page: a line for each finding."""

    def cell(text: str) -> str:
        return re.sub(r"([|<*])", r"\\\1", text)

    rows = (
        f"| [{stated.name}]({stated.script.name}) | {cell(stated.behaviour)} "
        f"| {cell(stated.why[:1].upper() + stated.why[1:])} |\n"
        for stated in known
    )
    return TOP + "".join(rows)


def holds(finding: Finding) -> bool:
    """Whether the script saw what it states. Prints what it saw where it did not."""
    done = subprocess.run(["bash", str(finding.script)], capture_output=True, text=True, check=False)
    print(f"{finding.name}: {'CHANGED' if done.returncode else 'as stated'}", flush=True)
    if done.returncode:
        print(done.stdout, done.stderr, sep="", flush=True)
    return not done.returncode


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--readme", action="store_true")
    asked, known = parser.parse_args(), findings()
    if asked.readme:
        README.write_text(readme(known), encoding="utf-8")
        return
    if unknown := sorted({*asked.names} - {finding.name for finding in known}):
        sys.exit(f"no finding {', '.join(unknown)}. Remedy: one of {', '.join(each.name for each in known)}")
    chosen = [finding for finding in known if not asked.names or finding.name in asked.names]
    changed = [finding.name for finding in chosen if not holds(finding)]
    print(f"{len(chosen) - len(changed)} of {len(chosen)} findings as stated")
    sys.exit(bool(changed))


if __name__ == "__main__":
    main()
