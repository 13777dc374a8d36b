"""docs/comparison.md and its picture, from comparison.json."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from benchmarks.compare_tables import FAMILIES, FEWEST, P_PERCENT, SEEDS
from benchmarks.document import NONE, as_table
from benchmarks.registry import HERE
from sdc_tasks.report.cta_figures import ACCENT, HELD, QUIET, STYLE, bare, picture
from sdc_tasks.report.files import write_whole

RECORDS = HERE / "comparison.json"
DOCS = HERE.parents[1] / "docs"
PICTURE = "comparison.svg"
Record = Mapping[str, Any]
# What kind of publication it is, and what whoever calls it must know.
KINDS: Mapping[str, tuple[str, str]] = {
    "suppression, exact": ("blanks", "the rules"),
    "suppression, paths": ("blanks", "the rules; two dimensions, one hierarchy at most"),
    "suppression, network": ("blanks", "the rules; two dimensions, one hierarchy at most"),
    "suppression, cover": ("blanks", "the rules"),
    "suppression, cubes": ("blanks", "the rules"),
    "suppression, hypercube": ("blanks", "the rules"),
    "suppression, hitas": ("blanks", "the rules"),
    "intervals": ("intervals", "the rules; that readers take intervals"),
    "CTA, L1": ("moved", "levels; that readers are told that numbers moved, and not how far"),
    "CTA, L2": ("moved", "levels; that readers are told that numbers moved, and not how far"),
    "controlled rounding": ("rounded", "levels and a base; who is alone in a cell"),
    "controlled rounding, inverse weights": (
        "rounded",
        "the same; that moving a cell counts by its share",
    ),
    "quadratic rounding": ("rounded", "levels; who is alone in a cell"),
    "small count rounding": ("rounded", "a base; it promises that no count is 1 or 2, and no levels"),
    "small count rounding, rule-aware": ("rounded", "a base; for one publication of a table"),
    "cell keys": ("perturbed", "a design of noise, a secret, names of records; that totals are no sums"),
    "primaries alone hidden": ("blanks", "the rules. No method: what it takes to do more"),
    "each cell rounded": ("rounded", "a base. No method: what it takes to do more"),
    "pytauargus OPT": ("blanks", "the rules in the words of τ-ARGUS"),
    "pytauargus MOD": ("blanks", "the rules in the words of τ-ARGUS"),
    "pytauargus RND": ("rounded", "the rules, a base; that a table of zeros means that none was found"),
    "ctrlround": ("rounded", "a base; it knows nothing of levels or hierarchies"),
    "cell-key-perturbation": ("perturbed", "record keys and a p-table; counts only"),
    "acro": ("blanks", "thresholds in its settings; that its totals leave out what is blank"),
}
OTHERS = ("pytauargus OPT", "pytauargus MOD", "pytauargus RND", "ctrlround", "cell-key-perturbation", "acro")
NO_METHODS = ("primaries alone hidden", "each cell rounded")
BETTER = 1e-6  # by less, nothing is dearer


def write_page(kept: Mapping[str, Any]) -> None:
    records = kept["records"]
    write_whole(DOCS / "img" / PICTURE, drawn(records))
    write_whole(DOCS / "comparison.md", page(records, kept["runs"]))


def page(records: Sequence[Record], runs: Mapping[str, Mapping[str, Any]]) -> str:
    families = [family for family in FAMILIES if family in runs]
    values = [each for each in records if each["family"] != "counts"]
    counts = [each for each in records if each["family"] == "counts"]
    tables = len({each["table"] for each in records})
    loads = ", ".join(f"{family} {runs[family]['load']:g}" for family in families)
    run = runs[families[0]]
    limits = " or ".join(sorted({f"{each['limit']:g}" for each in runs.values()}))
    made = (
        f"Written by `make compare` from `tests/benchmarks/comparison.json`: {tables} tables, {len(KINDS)} "
        f"methods, one judge. Python {run['python']}, {run['cores']} cores; load when a "
        f"family began: {loads}. Searches end after {limits} s, so that they depend on the machine."
    )
    listed = [[name, FAMILIES[name][0], str(SEEDS), _sizes(records, name)] for name in families]
    parts = [
        "# Which method?",
        made,
        _HOW,
        "## Recommendation",
        _recommended(values, counts),
        "## Tables",
        "All are invented here from seeds, under the licence of this project "
        "(`tests/benchmarks/compare_tables.py`).",
        as_table(["family", "what", "tables", "cells; primaries"], listed, 2),
        "## Safety and loss",
        f"![what each method loses, and the requirements that all lone respondents break](img/{PICTURE})",
        "### Tables of values",
        _summary(values),
        "### Tables of counts",
        _summary(counts),
        "## Broken requirements by family",
        _by_family(records, families),
        "## Where another program loses less at equal protection",
        _dearer(records),
        "## What refused",
        _refusals(records),
        _NOT_COMPARED,
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


_HOW = f"""\
Each method gets the same microdata, a row for each respondent. A cell is primary by p% with p = {P_PERCENT:g}, or with fewer than {FEWEST}
respondents (counts: the latter alone, and another whole number must stay possible). Each primary cell has two requirements: its level below
and its level above may not be excluded. The judge solves one linear program for each requirement and attacker. It shares no code with the
searches. Attackers know what is printed, what kind of publication it is, that the table adds up, and

- *outsider*: nothing else;
- *one*: as a respondent who is alone in a cell, that cell;
- *two*: two such respondents together;
- *all*: all such respondents that are not in the attacked cell. The promise of `sdc suppress`.

Some levels no pattern keeps against everybody who is alone in a cell. There `sdc suppress` and `sdc round-table` work with `--attainable`, and
the intervals are those of the same levels: each attacker is left what the pattern leaves him that hides everything. The judge knows nothing
of that: it counts whatever falls short of a level.

Linked tables are one problem for `sdc suppress A.csv B.csv` and for intervals. Rounding, CTA and ctrlround work on all crossings of both
tables, of which the two are printed. pytauargus and acro protect each table by itself, and a reader takes the narrowest of what both say.
Attackers know that both come from the same respondents.

Whoever breaks a requirement breaks it for all below. Numbers that were moved by nobody knows how much (CTA) give no interval: there a
requirement is broken where the printed number is nearer than the level. *Blank*: cells without a number, of those that are not primary and not
empty, and their share of the value. *Lost*: the mean over all cells that are not empty of |printed − true| / true, at most 1; 1 for a blank,
half the width for an interval. *Totals*: the same of totals alone. *Misfit*: the largest difference between a printed total and the sum of its
printed parts. Seconds of CPU (median) and MiB (largest) of a process of its own. A search that ends by the clock has less of the CPU on a busy machine."""  # noqa: E501
_NOT_COMPARED = """\
## Not compared

- Safe bases (`sdc release`) publish EU aggregates of national tables, and recoding changes the codes: neither publishes the table of the others.
- Public tables: they come without respondents. Twelve are compared with pytauargus in `tests/benchmarks/SUPPRESSION_RIVAL.md`, Castro's in
  `tests/benchmarks/SUPPRESSION.md` and `ROUNDING.md`. C2229 is in `docs/tutorial.md`.
- R packages: no R on this machine."""  # noqa: E501


def answered(records: Iterable[Record], method: str) -> list[Record]:
    return [each for each in records if each["method"] == method and "requirements" in each]


def share(records: Sequence[Record], name: str) -> float:
    """Of the requirements, how many this attacker breaks."""
    return sum(each[name] for each in records) / max(sum(each["requirements"] for each in records), 1)


def mean(records: Sequence[Record], name: str) -> float:
    return sum(each[name] for each in records) / len(records)


def _percent(value: float) -> str:
    return "0" if value == 0 else f"{100 * value:.1f} %"


def _summary(records: Sequence[Record]) -> str:
    if not records:
        return "Not measured yet."
    number = len({each["table"] for each in records})
    rows = []
    for method, (_, known) in KINDS.items():
        mine = answered(records, method)
        if not mine:
            continue
        rows.append(
            [
                f"*{method}*" if method in OTHERS else method,
                f"{len(mine)} of {number}",
                *(_percent(share(mine, who)) for who in ("outsider", "one", "two", "all_lone")),
                f"{_percent(mean(mine, 'hidden'))}, {_percent(mean(mine, 'value_hidden'))}",
                _percent(mean(mine, "lost")),
                _percent(mean(mine, "totals_lost")),
                f"{max(each['misfit'] for each in mine):.3g}",
                f"{median(each['cpu'] for each in mine):.2f}",
                f"{max(each['memory'] for each in mine):.0f}",
                known,
            ]
        )
    head = [
        "method",
        "tables",
        "outsider",
        "one",
        "two",
        "all",
        "blank: cells, value",
        "lost",
        "totals",
        "misfit",
        "CPU s",
        "MiB",
        "to know",
    ]
    return "Requirements broken by each attacker; other programs in italics.\n\n" + as_table(head, rows, 1)


def _sizes(records: Sequence[Record], family: str) -> str:
    mine = [each for each in records if each["family"] == family]
    cells, primaries = sorted({each["cells"] for each in mine}), sorted({each["primaries"] for each in mine})
    return f"{cells[0]} to {cells[-1]}; {primaries[0]} to {primaries[-1]}"


def _by_family(records: Sequence[Record], families: Sequence[str]) -> str:
    rows = []
    for method in KINDS:
        told = []
        for family in families:
            mine = answered([each for each in records if each["family"] == family], method)
            told.append(
                f"{_percent(share(mine, 'outsider'))}, {_percent(share(mine, 'all_lone'))}" if mine else NONE
            )
        rows.append([f"*{method}*" if method in OTHERS else method, *told])
    return "By an outsider, and by all lone respondents.\n\n" + as_table(["method", *families], rows, 1)


def safe(record: Record) -> bool:
    return "requirements" in record and record["all_lone"] == 0


def dearer(records: Sequence[Record]) -> list[tuple[str, str, str, float, float]]:
    """Table, other program, our best of the same kind, and what both lose: blanks by their value, else
    `lost`. Only publications that break nothing.
    """
    found = []
    for table in dict.fromkeys(each["table"] for each in records):
        here = [each for each in records if each["table"] == table and safe(each)]
        for other in (each for each in here if each["method"] in OTHERS):
            kind = KINDS[other["method"]][0]
            measure = "value_hidden" if kind == "blanks" else "lost"
            ours = [
                each
                for each in here
                if each["method"] not in (*OTHERS, *NO_METHODS) and KINDS[each["method"]][0] == kind
            ]
            best = min(ours, key=lambda each: each[measure], default=None)
            if best is None or other[measure] < best[measure] - BETTER:
                name, cost = (best["method"], best[measure]) if best else (NONE, 1.0)
                found.append((table, other["method"], name, other[measure], cost))
    return found


def _dearer(records: Sequence[Record]) -> str:
    number = len({each["table"] for each in records})
    found = dearer(records)
    comparable = len({each["table"] for each in records if each["method"] in OTHERS and safe(each)})
    worse = len({row[0] for row in found})
    said = (
        f"On {comparable} of {number} tables some other program breaks no requirement; on {worse} of these "
        "it loses less than our best publication of its kind (of blanks the value, else *lost*)."
    )
    rows = [
        [table, f"*{other}*", ours, _percent(theirs), _percent(cost)]
        for table, other, ours, theirs, cost in found
    ]
    return said + (
        "\n\n" + as_table(["table", "other program", "our best", "loses", "ours loses"], rows, 3)
        if rows
        else ""
    )


def _refusals(records: Sequence[Record]) -> str:
    rows = []
    for method in KINDS:
        why: dict[str, int] = {}
        for each in records:
            if each["method"] == method and "refused" in each:
                reason = _short(each["refused"])
                why[reason] = why.get(reason, 0) + 1
        rows += [
            [f"*{method}*" if method in OTHERS else method, str(number), reason]
            for reason, number in why.items()
        ]
    return (
        "A method that answers nothing harms nobody; that it does is a part of the comparison.\n\n"
        + as_table(["method", "tables", "what it said"], rows, 1)
    )


def _short(reason: str) -> str:
    """Without keys and numbers of a table, so that equal reasons count together."""
    text = reason.partition(". Remedy")[0]
    for word in (": not protected", "no table with sensitive cells", "no table to base"):
        if word in text:
            kind = text.partition(":")[0]
            rest = {
                "no table to base": "no table: it answers with zeros",
                ": not protected": "a cell that is not protected even with all hidden that may be",
            }
            return f"{kind}: {rest.get(word, 'no table with the least base that the levels allow')}"
    return text.replace("|", "/")


def _recommended(values: Sequence[Record], counts: Sequence[Record]) -> str:
    def of(method: str, name: str, told: Callable[[Sequence[Record], str], float] = mean) -> str:
        mine = answered(counts if method.startswith("small count") else values, method)
        return _percent(told(mine, name)) if mine else NONE

    def seconds(method: str) -> str:
        return f"{median(each['cpu'] for each in answered(values, method)):.2f} s of CPU"

    exact, cubes, hitas = (f"suppression, {name}" for name in ("exact", "cubes", "hitas"))
    small, aware = "small count rounding", "small count rounding, rule-aware"
    requirements = sum(each["requirements"] for each in answered(values, exact))
    rows = [
        [
            "values, for everybody; what is printed must be true",
            "`sdc suppress`, exact or auto",
            f"{of(exact, 'all_lone', share)} of {requirements} requirements broken; of the value "
            f"{of(exact, 'value_hidden')} is blank, with hitas {of(hitas, 'value_hidden')}, with cubes "
            f"{of(cubes, 'value_hidden')}",
        ],
        [
            "values, for readers who take a range",
            "`sdc intervals`",
            f"loses {of('intervals', 'lost')} of a cell, suppression {of(exact, 'lost')}",
        ],
        [
            "values, for models that need every cell and sums that add up",
            "`sdc round`, controlled; `sdc cta` where numbers may move by nobody knows how much",
            f"lost: rounding {of('controlled rounding', 'lost')}, CTA {of('CTA, L1', 'lost')}; of rounding "
            f"{of('controlled rounding', 'outsider', share)} of the requirements are broken by outsiders, "
            f"{of('controlled rounding', 'all_lone', share)} by all lone respondents together",
        ],
        [
            "counts, many tables of the same people",
            "`sdc round-counts`",
            f"lost {of(small, 'lost')}, of totals {of(small, 'totals_lost')}; "
            f"{of(small, 'outsider', share)} of the requirements broken, which it does not promise; "
            f"rule-aware {of(aware, 'outsider', share)}",
        ],
        [
            "a large table in seconds",
            "`sdc suppress`, cubes",
            f"{seconds(cubes)} here, exact {seconds(exact)}",
        ],
        [
            "respondents who are alone in a cell may talk to each other",
            "`sdc suppress`",
            f"broken by all together: {of(exact, 'all_lone', share)}; pytauargus OPT "
            f"{of('pytauargus OPT', 'all_lone', share)}",
        ],
    ]
    return as_table(["data, audience, purpose", "method", "the figure behind it"], rows, 3)


def drawn(records: Sequence[Record]) -> bytes:
    """What each method loses, and which requirements are broken by all lone respondents; values and counts
    apart.
    """
    halves = {
        "tables of values": [each for each in records if each["family"] != "counts"],
        "tables of counts": [each for each in records if each["family"] == "counts"],
    }
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(11, 5.4), layout="constrained")
        panels = figure.subplots(1, 4, width_ratios=[3, 2, 3, 2])
        for (title, mine), (lost, broken) in zip(halves.items(), panels.reshape(2, 2), strict=True):
            told = {method: rows for method in KINDS if (rows := answered(mine, method))}
            methods = sorted(told, key=lambda method: -mean(told[method], "lost"))
            lost.set_title(title, loc="left", fontsize=11)
            for axes, values, label in (
                (
                    lost,
                    [100 * mean(told[method], "lost") for method in methods],
                    "lost, mean of all cells, %",
                ),
                (broken, [100 * share(told[method], "all_lone") for method in methods], "broken, %"),
            ):
                bare(axes)
                axes.barh(range(len(methods)), values, color=[_colour(method) for method in methods])
                axes.set_xlabel(label)
                axes.set_xlim(0, 100)
                axes.set_yticks(range(len(methods)), methods if axes is lost else [""] * len(methods))
            for text, method in zip(lost.get_yticklabels(), methods, strict=True):
                text.set(color=_colour(method), fontsize=7.5)
        return picture(figure, "svg")


def _colour(method: str) -> str:
    return QUIET if method in NO_METHODS else HELD if method in OTHERS else ACCENT
