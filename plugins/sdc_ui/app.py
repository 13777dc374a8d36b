"""The routes under /sdc. Each route reads, gathers the facts of its page, and renders a template; none
writes.

The policy in every answer lets a page load only its own style sheet and script, and lets only this server
frame it.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from traceback import format_tb
from typing import Any

import sdc_places
from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, RedirectResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from sqlalchemy.exc import SQLAlchemyError
from starlette.exceptions import HTTPException as StarletteHTTPException

from sdc_tasks.errors import Retriable, SdcError
from sdc_tasks.warehouse import reader
from sdc_ui.access import SIGNED_IN, GetUserDep, readable, require, rights, services, unopened
from sdc_ui.board import board
from sdc_ui.country import country_facts
from sdc_ui.cycles.cycle import NAMELESS, cycle_facts
from sdc_ui.cycles.findings import findings_facts, findings_file
from sdc_ui.cycles.statistic import tables_of
from sdc_ui.releases.bundle import bundle_of
from sdc_ui.releases.comparison import comparison_facts
from sdc_ui.releases.heatmap import SIZES
from sdc_ui.releases.history import history_facts
from sdc_ui.releases.kept import KINDS, certified, content, kept
from sdc_ui.releases.protection import release_facts
from sdc_ui.shared import words
from sdc_ui.shared.actions import actions, answers, asked, asked_back, clearing, retraction
from sdc_ui.source import warehouse

log = logging.getLogger("sdc.pages")
HERE = Path(__file__).parent
ASSETS = {
    name: ((HERE / "assets" / name).read_bytes(), kind)
    for name, kind in (("style.css", "text/css"), ("page.js", "text/javascript"))
}
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' "
    "data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
}

pages = Environment(
    loader=FileSystemLoader(HERE / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
pages.filters.update(words.FILTERS)
pages.globals.update(SIZES=SIZES, NAMELESS=NAMELESS, KINDS=KINDS)

app = FastAPI(title="Releases", dependencies=[SIGNED_IN], docs_url=None, redoc_url=None, openapi_url=None)


@app.middleware("http")
async def with_policy(request: Request, proceed: Callable[[Request], Awaitable[Response]]) -> Response:
    """Adds the headers to every answer, also to a refusal, and to the page that tells of a fault of the
    program.
    """
    try:
        answer = await proceed(request)
    except Exception as error:  # its text may hold anything, the frames only code
        log.error(
            "a page cannot be made: %s\n%s", type(error).__name__, "".join(format_tb(error.__traceback__))
        )
        detail = (
            "a fault of the program: this page cannot be made. Nothing stored is lost. The "
            "log of the api-server has the reason"
        )
        answer = _error(request, HTTPStatus.INTERNAL_SERVER_ERROR, detail)
    answer.headers.update(HEADERS)
    return answer


@app.get("/")
def the_board(request: Request, user: GetUserDep) -> Response:
    """All domains and cycles."""
    now = datetime.now(UTC)
    facts = board(warehouse(), now, lambda domain: readable(domain, user))
    may = {each.domain: rights(each.domain, user) for each in facts.domains}
    todo = {
        (line.domain, line.period): actions(
            may[line.domain], line.newest, line.run, domain=line.domain, period=line.period, ready=True
        )
        for line in facts.open
        if line.ready
    }
    asks = {
        (line.domain, line.period): asked(may[line.domain], user.get_name(), line.newest, line.asking)
        for line in facts.open
    }
    back = {
        (line.domain, line.period): asked_back(may[line.domain], user.get_name(), line.takings)
        for line in facts.open
    }
    gone, paused = (
        {domain for domain, each in may.items() if getattr(each, what)} for what in ("gone", "paused")
    )
    new = unopened(may, user)
    return _page(
        request,
        "board",
        facts=facts,
        todo=todo,
        asks=asks,
        back=back,
        gone=gone,
        paused=paused,
        new=new,
        down=services(now),
        now=now,
    )


@app.get("/country/{country}")
def one_country(request: Request, user: GetUserDep, country: str) -> Response:
    """One country over the domains that the user may see."""
    facts = country_facts(warehouse(), country, datetime.now(UTC), lambda domain: readable(domain, user))
    return _page(
        request, "country", facts=_known(facts, f"country {country} among the cycles that you may see")
    )


@app.get("/cycle/{domain}/{period}")
def one_cycle(request: Request, user: GetUserDep, domain: str, period: str) -> Response:
    """The page of one cycle."""
    require([domain], user)
    now = datetime.now(UTC)
    facts = _known(cycle_facts(warehouse(), domain, period, now), f"cycle {domain} {period}")
    may = rights(domain, user)
    todo = actions(
        may,
        facts.newest,
        facts.run,
        facts.failed,
        domain=domain,
        period=period,
        ready=facts.ready,
        unread=facts.unread,
    )
    if facts.out is not None and not facts.retracting:
        todo = (*todo, *retraction(may, facts.out, facts.out))
    asks, back = (
        asked(may, user.get_name(), facts.newest, facts.asking),
        asked_back(may, user.get_name(), facts.takings),
    )
    tables = tables_of(warehouse(), domain, period, now, lambda each: readable(each, user))
    return _page(
        request,
        "cycle",
        facts=facts,
        tables=tables,
        todo=todo,
        asks=asks,
        back=back,
        may=may,
        down=services(now),
        now=now,
    )


@app.get("/cycle/{domain}/{period}/findings/{country}")
def findings_of(request: Request, user: GetUserDep, domain: str, period: str, country: str) -> Response:
    """The findings in the files of one country."""
    require([domain], user)
    facts = _known(
        findings_facts(warehouse(), domain, period, country), f"country {country} in {domain} {period}"
    )
    may = rights(domain, user)
    shown = {each.digest: each.given.answer if each.given else "" for each in facts.files}
    todo = (*answers(may, domain, period, facts.waiting, shown=shown), *clearing(may, facts.to_clear))
    alone = {
        each.digest: answers(
            may,
            domain,
            period,
            each.choice.files,
            each.choice.answers,
            shown=shown,
            urgent=each.state == "waiting",
        )
        for each in facts.files
        if each.choice and each.choice.files != facts.waiting
    }
    inbox = sdc_places.INBOX.replace("{domain}", domain).replace("{period}", period)
    return _page(request, "findings", facts=facts, todo=todo, alone=alone, inbox=inbox)


@app.get("/cycle/{domain}/{period}/findings/{country}/letter")
def letter(request: Request, user: GetUserDep, domain: str, period: str, country: str) -> Response:
    """The findings in the files of one country, as a page to print and send."""
    require([domain], user)
    facts = _known(
        findings_facts(warehouse(), domain, period, country), f"country {country} in {domain} {period}"
    )
    return _page(request, "letter", facts=facts, now=datetime.now(UTC))


@app.get("/cycle/{domain}/{period}/findings/{country}/findings.csv")
def findings_as_file(user: GetUserDep, domain: str, period: str, country: str) -> Response:
    """The same as a file."""
    require([domain], user)
    text = _known(
        findings_file(warehouse(), domain, period, country), f"country {country} in {domain} {period}"
    )
    return _file(text, f"findings_{domain}_{period}_{country}.csv", "text/csv")


@app.get("/release/{release_id}")
def one_release(request: Request, user: GetUserDep, release_id: str) -> Response:
    """The protection of one release."""
    facts = _known(release_facts(warehouse(), release_id), f"release {release_id}")
    require([facts.line.domain], user)
    may, line = rights(facts.line.domain, user), facts.line
    todo = () if facts.retracting else retraction(may, line, facts.out)
    if facts.newest:
        todo = (
            *actions(may, line, facts.latest, domain=line.domain, period=line.period, ready=line.takes_in),
            *todo,
        )
    bundle = (
        bundle_of(facts.runs[-1].dag_id, facts.runs[-1].run_id) if facts.runs else None
    )  # of the run that opened it
    asks, back = (
        asked(may, user.get_name(), line, facts.asking),
        asked_back(may, user.get_name(), facts.takings),
    )
    return _page(
        request,
        "release",
        facts=facts,
        todo=todo,
        asks=asks,
        back=back,
        files=kept(line, facts.certificate),
        bundle=bundle,
    )


@app.get("/release/{release_id}/audit.json")
def certificate(user: GetUserDep, release_id: str) -> Response:
    """The certificate of the newest audit of a release, as a file."""
    line, found = _known(certified(warehouse(), release_id), f"release {release_id}")
    require([line.domain], user)
    text = _known(found, f"audit of release {release_id}")
    return _file(text, f"audit_{release_id}.json", "application/json")


@app.get("/release/{release_id}/file/{name}")
def file_of_release(user: GetUserDep, release_id: str, name: str) -> Response:
    """The report of a release that the world may see, or one of its public files."""
    line, found = _known(certified(warehouse(), release_id), f"release {release_id}")
    require([line.domain], user)
    kept_file = _known(content(line, found, name), f"{name} of release {release_id} in its output folder")
    return _file(kept_file, f"{release_id}_{name}", KINDS[name][1])


@app.get("/compare/{release_id}/{other}")
def comparison(request: Request, user: GetUserDep, release_id: str, other: str) -> Response:
    """The changes from one version of a period to another."""
    facts = _known(
        comparison_facts(warehouse(), release_id, other),
        f"pair of versions {release_id} and {other} of one period",
    )
    require([facts.new.domain], user)
    return _page(request, "compare", facts=facts)


@app.get("/history/{domain}")
def history(request: Request, user: GetUserDep, domain: str) -> Response:
    """The releases of a domain."""
    require([domain], user)
    return _page(request, "history", facts=_known(history_facts(warehouse(), domain), f"domain {domain}"))


@app.get("/run/{dag_id}/{run_id}")
def of_run(request: Request, user: GetUserDep, dag_id: str, run_id: str) -> Response:
    """The tab on a DAG run: forwards to its release when that has an audit, otherwise to its cycle."""
    run = reader.dag_run(warehouse(), dag_id, run_id)
    if run is None or not run["domain"]:
        tasks = reader.task_runs(warehouse(), dag_id, run_id)
        said = next((each["said"] for each in tasks if each["state"] == "failed"), "")
        state = run["state"] if run else None
        return _page(request, "unknown", dag_id=dag_id, run_id=run_id, run=run, said=said, state=state)
    require([run["domain"]], user)
    release = run["release_id"]
    if release and any(each["step"] == "verdict" for each in reader.steps(warehouse(), release)):
        return RedirectResponse(f"{_root(request)}/release/{release}", HTTPStatus.SEE_OTHER)
    if run["period"]:
        return RedirectResponse(
            f"{_root(request)}/cycle/{run['domain']}/{run['period']}", HTTPStatus.SEE_OTHER
        )
    return _page(request, "unknown", dag_id=dag_id, run_id=run_id, run=run, said="", state=run["state"])


@app.get("/assets/{name}")
def asset(name: str) -> Response:
    """The style sheet and the script."""
    if name not in ASSETS:
        raise HTTPException(HTTPStatus.NOT_FOUND, "no such file")
    content, kind = ASSETS[name]
    return Response(content, media_type=kind)


@app.exception_handler(StarletteHTTPException)
def refused(request: Request, error: StarletteHTTPException) -> Response:
    """A page that says what to do. Everybody may see it, and it shows nothing else."""
    return _error(request, error.status_code, str(error.detail))


@app.exception_handler(RequestValidationError)
def malformed(request: Request, error: RequestValidationError) -> Response:
    """The answer to an address without a page."""
    return _error(request, HTTPStatus.NOT_FOUND, "no such page")


@app.exception_handler(SdcError)
@app.exception_handler(SQLAlchemyError)
def away(request: Request, error: Exception) -> Response:
    """The answer when a database does not answer, or the warehouse has no tables yet. The log of the
    api-server has the reason, without the statement and its parameters.
    """
    log.warning(
        "a database cannot be read: %s: %s", type(error).__name__, str(error).split("\n", maxsplit=1)[0]
    )
    if isinstance(error, Retriable):
        detail = "the warehouse does not answer"
    else:
        detail = (
            "the warehouse or Airflow's database does not answer, or the warehouse is empty "
            "before the first release"
        )
    detail += (
        ". Nothing that was stored is lost. Try again in a minute; the log of the api-server has the reason"
    )
    answer = _error(request, HTTPStatus.SERVICE_UNAVAILABLE, detail)
    answer.headers["Retry-After"] = "60"
    return answer


def _known(facts: Any, what: str) -> Any:
    if facts is None:
        raise HTTPException(HTTPStatus.NOT_FOUND, f"there is no {what}")
    return facts


def _root(request: Request) -> str:
    """The address of these pages, without a final slash."""
    return str(request.scope.get("root_path", "")).rstrip("/")


def _page(request: Request, name: str, status: int = HTTPStatus.OK, **facts: Any) -> HTMLResponse:
    root = _root(request)
    airflow = root.removesuffix("/sdc")
    return HTMLResponse(
        pages.get_template(f"{name}.html.j2").render(root=root, airflow=airflow, **facts), status
    )


def _file(content: str | bytes, name: str, kind: str) -> Response:
    """A file to keep. Its name holds nothing but letters, digits, dots, dashes and underscores."""
    plain = re.sub(r"[^A-Za-z0-9._-]", "_", name)
    kind = kind if name.endswith(".parquet") else f"{kind}; charset=utf-8"
    return Response(
        content, media_type=kind, headers={"Content-Disposition": f'attachment; filename="{plain}"'}
    )


def _error(request: Request, status: int, detail: str) -> HTMLResponse:
    signed_out = status == HTTPStatus.UNAUTHORIZED
    return _page(
        request, "error", status, title=HTTPStatus(status).phrase, detail=detail, signed_out=signed_out
    )
