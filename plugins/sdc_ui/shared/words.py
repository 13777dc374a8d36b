"""Numbers, instants and spans as text. The template adds the unit of a number."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from markupsafe import Markup, escape

NARROW = "\u202f"
MONTH = 30 * 86_400  # seconds
WRITTEN = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d(?: UTC)?")  # an instant in a text of the pipeline
UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


def grouped(number: float, decimals: int = 0) -> str:
    """A number with a narrow space between thousands: 20 160."""
    return f"{number:,.{decimals}f}".replace(",", NARROW).replace("-", "−")


def significant(number: float) -> str:
    """A number to four digits, of any size."""
    rounded = float(f"{number:.4g}")
    return grouped(rounded) if abs(rounded) >= 1000 else f"{rounded:g}".replace("-", "−")


def share(ratio: float) -> str:
    """A ratio in whole percent, which is 0 % or 100 % only where that is exact."""
    if 0 < ratio < 0.01:
        return f"<1{NARROW}%"
    if 0.99 < ratio < 1:
        return f">99{NARROW}%"
    return f"{100 * ratio:.0f}{NARROW}%"


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun: 3 findings, 1 finding."""
    return f"{grouped(number)} {one if number == 1 else many or one + 's'}"


def sentence(text: str) -> str:
    """A text of the pipeline as the beginning of a sentence; names within it stay as they are."""
    return text[:1].upper() + text[1:]


def span(length: timedelta | float) -> str:
    """A length of time in its two largest units: 2 d 4 h, 3 min 20 s, 4.2 s; from a month on in days only."""
    total = abs(length.total_seconds() if isinstance(length, timedelta) else length)
    if total < 60:
        return f"{total:.1f}{NARROW}s"
    if total >= MONTH:
        return f"{grouped(total // 86_400)}{NARROW}d"
    left = round(total)
    told: list[tuple[int, str]] = []
    for size, name in UNITS:
        number, left = divmod(left, size)
        if number or told:
            told.append((number, name))
    return " ".join(f"{number}{NARROW}{name}" for number, name in told[:2] if number)


def instant(moment: datetime) -> Markup:
    """An instant in UTC. The script of the page shows it in the time zone that the reader has chosen in
    Airflow.
    """
    utc = moment.astimezone(UTC)
    return Markup('<time datetime="{}">{}</time>').format(
        utc.isoformat(timespec="seconds"), f"{utc:%Y-%m-%d %H:%M} UTC"
    )


def unbroken(text: str) -> Markup:
    """A text in which no line ends within an instant."""
    return Markup(WRITTEN.sub(r'<span class="instant">\g<0></span>', str(escape(text))))


def digest(text: str) -> Markup:
    """The first twelve digits of a digest, with the whole digest as a tooltip."""
    return Markup('<code title="{}">{}</code>').format(text, text[:12])


FILTERS = {
    "grouped": grouped,
    "significant": significant,
    "share": share,
    "counted": counted,
    "sentence": sentence,
    "span": span,
    "instant": instant,
    "unbroken": unbroken,
    "digest": digest,
}
