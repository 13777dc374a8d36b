"""Tells every browser when a database does not answer, at all addresses of the api-server.

Airflow looks up the cookie of a browser in its database before any application is asked, in a middleware
around them. An error there reaches no handler of an application. So this middleware stands around that one.
Programs get Airflow's own answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

PREFIX = "/sdc"  # of the pages


class DatabaseAway:
    """The middleware. Its page needs a style sheet and a script, which are answered here too."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False

        async def noted(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        if scope["type"] == "lifespan":
            _to_the_outside(scope["app"])
        try:
            await self.app(scope, receive, noted)
        except Exception as error:
            from sqlalchemy.exc import SQLAlchemyError

            if begun or not _of_a_browser(scope) or not isinstance(error, SQLAlchemyError):
                raise
            from fastapi import Request
            from sdc_ui.app import ASSETS, HEADERS, asset, away

            name = scope["path"].partition(f"{PREFIX}/assets/")[2]
            request = Request({**scope, "root_path": scope.get("root_path", "").rstrip("/") + PREFIX})
            answer = asset(name) if name in ASSETS else away(request, error)
            answer.headers.update(HEADERS)
            await answer(scope, receive, send)


def _to_the_outside(server: Starlette) -> None:
    """Airflow puts its own middlewares around those of plugins. Before the first request this one becomes the
    outermost but for the first, which writes the log of requests.
    """
    ours = next(
        each
        for each in server.user_middleware
        if isinstance(each.cls, type) and issubclass(each.cls, DatabaseAway)
    )
    server.user_middleware.remove(ours)
    server.user_middleware.insert(1, ours)
    server.middleware_stack = None  # the server builds it again


def _of_a_browser(scope: Scope) -> bool:
    """Whether somebody reads the answer: a page is asked for, or something of ours."""
    if scope["type"] != "http" or scope["method"] != "GET":
        return False
    accepted = b", ".join(value for name, value in scope["headers"] if name == b"accept")
    return b"text/html" in accepted or f"{PREFIX}/" in scope["path"]
