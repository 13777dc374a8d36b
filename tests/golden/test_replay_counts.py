"""The counter-example of METHOD §9: small count rounding may leave somebody who has the program fewer candidates than the base."""

from __future__ import annotations

from benchmarks.counts_replay_run import BASE, publications

NOTHING = (0,) * 9


def test_a_two_among_zeros_is_never_printed_as_zero_and_a_one_always_is():
    for cell in range(4):
        one, two = (tuple(n if i == cell else 0 for i in range(4)) for n in (1, 2))
        assert set(publications(one, 20, drawn=False)) == {NOTHING}
        printed = set(publications(two, 20, drawn=False))
        assert len(printed) == 1
        assert NOTHING not in printed
        assert max(*printed.pop()) == BASE


def test_a_key_that_sends_each_hidden_count_somewhere_prints_both_as_zero():
    for n in range(BASE):
        assert NOTHING in set(publications((n, 0, 0, 0), 3, drawn=True))
