"""Spans of OpenTelemetry: one for each step of a release and one for each solve, with counts and gaps; never
a value, a cell, or the text of an error.

Off by default. SDC_TELEMETRY=1 turns it on and needs the extra `telemetry`; OpenTelemetry's own variables say
where the spans go, such as OTEL_EXPORTER_OTLP_ENDPOINT.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING

from sdc_tasks.errors import InvalidInput

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

Tell = Callable[..., None]
# All that a span may say. A name that is missing here is refused, so nobody adds a value in passing.
ALLOWED = frozenset(
    {
        "release",
        "step",
        "key",
        "solver",
        "status",
        "rows",
        "columns",
        "binaries",
        "nodes",
        "iterations",
        "gap",
        "error",
    }
)
FLUSH = 5_000  # milliseconds for the collector, at the end of a step


@contextmanager
def span(name: str, **told: str | float | None) -> Iterator[Tell]:
    """A span around what is done inside. Yields a function that adds what is known at the end.

    An exception is told by its type alone. Raises KeyError for what a span may not say.
    """
    known = provider()
    if known is None:
        yield _nothing
        return
    from opentelemetry import trace

    outermost = not trace.get_current_span().get_span_context().is_valid
    with known.get_tracer("sdc").start_as_current_span(
        name, record_exception=False, set_status_on_exception=False
    ) as here:

        def tell(**more: str | float | None) -> None:
            if unknown := set(more) - ALLOWED:
                raise KeyError(f"a span does not say {', '.join(sorted(unknown))}")
            here.set_attributes({each: value for each, value in more.items() if value is not None})

        tell(**told)
        try:
            yield tell
        except BaseException as error:
            tell(error=type(error).__name__)
            raise
    if outermost:  # the process of a task may end without the handlers of its exit
        known.force_flush(FLUSH)


@cache
def provider() -> TracerProvider | None:
    """Where spans go in this process; None while telemetry is off. Raises InvalidInput
    where it is on and not installed.
    """
    if not os.environ.get("SDC_TELEMETRY"):
        return None
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        raise InvalidInput(
            "SDC_TELEMETRY is set, and OpenTelemetry is missing. Remedy: install sdc-release[telemetry]"
        ) from None
    made = TracerProvider(
        resource=Resource.create({"service.name": os.environ.get("OTEL_SERVICE_NAME", "sdc")})
    )
    made.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return made


def relative_gap(objective: float | None, bound: float | None) -> float | None:
    """The distance between a solution and its bound, relative to the solution; None where one of them is
    missing.
    """
    if objective is None or bound is None:
        return None
    return 0.0 if objective == bound else abs(objective - bound) / max(abs(objective), abs(bound))


def _nothing(**_: str | float | None) -> None:
    """What a span says while telemetry is off."""
