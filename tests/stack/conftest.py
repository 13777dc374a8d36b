"""A whole stack for tests: every server of docker/compose.yaml as a process on loopback, on free
ports, with domains of its own.

    make test-stack                                          everything, tests/browser too
    .venv/bin/pytest -m stack tests/stack -k roles           a part
    SDC_STACK_HOME=/tmp/mine .venv/bin/pytest -m stack …     a stack that is left running and found
                                                             again: the second time is quick

That one ends with `.venv/bin/python docker/stack.py --home /tmp/mine down`. Tests of pages take the same
fixture: a conftest.py with `from support.stack_fixture import stack` and `pytestmark =
pytest.mark.stack` in the test.

    def test_board(stack: Running) -> None:
        stack.url                      http://127.0.0.1:…, the pages are below /sdc
        stack.passwords["operator"]    also admin, approver, viewer
        stack.warehouse_url            the warehouse, as the pipeline's account
        stack.inbox                    folder; the inbox of a domain and period is stack.inbox / domain /
                                       period
        stack.deliver("week", "2024")         seeded deliveries of AT, BE, BG, CY go into it
        stack.client("operator")               Airflow's REST API: httpx, relative to /api/v2

Domains: one per kind of test, all of four countries; see `DOMAINS` in support/stack_fixture.py. None
publishes without an approval but `open`, `partial`, `faults` and `groups`.
"""

from support.stack_fixture import stack

__all__ = ["stack"]
