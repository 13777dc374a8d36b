"""Spans of a release: each step and each solve, with counts alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from sdc_tasks import telemetry
from support.desk import FREE, PROTECTED, SECRETS, new_desk


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    """Where the spans of this process go."""
    kept, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    monkeypatch.setattr(telemetry, "provider", lambda: provider)
    return kept


def test_a_release_tells_its_steps_and_solves_and_no_value(
    tmp_path: Path, spans: InMemorySpanExporter
) -> None:
    ended = new_desk(tmp_path, AT=PROTECTED, BE=FREE).release()
    assert ended.code == 0, ended.text
    found: list[Any] = list(spans.get_finished_spans())
    steps = [each for each in found if each.name == "sdc.step"]
    told = {each.attributes["step"] for each in steps}
    assert {"assemble", "baseline", "bases", "audit", "publish"} <= told, told
    solves = [each for each in found if each.name == "sdc.solve"]
    inside = {each.context.span_id for each in steps}
    assert any(each.parent is not None and each.parent.span_id in inside for each in solves), (
        "a solve stands below its step"
    )
    assert all(
        each.attributes["rows"] >= 0 and each.attributes["solver"] and each.attributes["status"]
        for each in solves
    )
    assert all(each.end_time >= each.start_time for each in found)
    written = "".join(each.to_json() for each in found)
    assert not [secret for secret in SECRETS if secret in written]
    drawn = {word for drawing in (PROTECTED, FREE) for word in drawing.split() if word.isdigit()}
    said = {value for each in found for value in each.attributes.values() if not isinstance(value, str)}
    assert not {str(int(value)) for value in said if value == int(value)} & drawn
    assert {name for each in found for name in each.attributes} <= telemetry.ALLOWED


def test_an_error_is_told_by_its_type_and_what_is_not_allowed_is_refused(spans: InMemorySpanExporter) -> None:
    with pytest.raises(ValueError, match="251409"), telemetry.span("sdc.step", step="bases"):
        raise ValueError("cell 251409")
    [one] = spans.get_finished_spans()
    assert dict(one.attributes or {}) == {"step": "bases", "error": "ValueError"}
    assert "251409" not in one.to_json()
    with pytest.raises(KeyError, match="does not say objective"), telemetry.span("sdc.solve") as tell:
        tell(objective=251409.0)


def test_it_is_off_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SDC_TELEMETRY", raising=False)
    telemetry.provider.cache_clear()
    assert telemetry.provider() is None
    assert telemetry.relative_gap(10.0, 9.0) == pytest.approx(0.1)
