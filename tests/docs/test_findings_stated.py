"""The findings about other software: the page is current, and each states version, behaviour and meaning."""

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

FOLDER = Path(__file__).parents[2] / "findings"
SCRIPTS = sorted(FOLDER.glob("*.sh"))


@pytest.fixture(scope="module")
def run() -> ModuleType:
    spec = importlib.util.spec_from_file_location("findings_run", FOLDER / "run.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["findings_run"] = module  # where its dataclass looks for the kinds of its fields
    spec.loader.exec_module(module)
    return module


def test_the_page_is_current(run: ModuleType) -> None:
    assert (FOLDER / "README.md").read_text(encoding="utf-8") == run.readme(run.findings()), (
        "Remedy: make docs-pages"
    )


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_script_states_what_it_installs_and_leaves_nothing_behind(script: Path, run: ModuleType) -> None:
    """Its first lines have the form; each version that they name is installed, in a folder that goes with the
    script; this program is not."""
    finding, text = run.read(script), script.read_text(encoding="utf-8")
    pins = dict(re.findall(r'"([A-Za-z0-9-]+)(?:\[[a-z,]+\])?==([0-9.]+)"', text))
    assert pins
    assert set(re.findall(r"\d+\.\d+[.\d]*\d", finding.behaviour.partition(": ")[0])) <= set(pins.values())
    assert "set -euo pipefail\nfolder=$(mktemp -d); trap 'rm -rf \"$folder\"' EXIT\n" in text
    assert 'diff "$folder/seen" - <<' in text
    assert "sdc_tasks" not in text


@pytest.mark.parametrize(
    "text",
    [
        "#!/usr/bin/env bash\n# solver: surprises.\n# Why it matters: much.\n",
        "#!/usr/bin/env bash\n# solver 1.2: surprises.\n",
        "# solver 1.2: surprises.\n# Why it matters: much.\n",
    ],
    ids=["no version", "no meaning", "no shell"],
)
def test_first_lines_without_the_form_are_refused(text: str, tmp_path: Path, run: ModuleType) -> None:
    script = tmp_path / "odd.sh"
    script.write_text(text)
    with pytest.raises(ValueError, match=r"odd\.sh: the first lines do not state a finding"):
        run.read(script)


@pytest.mark.parametrize(("saw", "word", "ended"), [("2", "as stated", True), ("3", "CHANGED", False)])
def test_a_run_tells_a_change(
    saw: str, word: str, ended: bool, tmp_path: Path, run: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "sum.sh"
    script.write_text(
        "#!/usr/bin/env bash\n# shell 1.0: adds.\n# Why it matters: totals.\n"
        f"diff <(echo $((1 + 1))) <(echo {saw})\n"
    )
    assert run.holds(run.read(script)) is ended
    assert f"sum: {word}" in capsys.readouterr().out
