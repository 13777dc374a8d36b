"""The columns that tell who is alone in a cell."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sdc_tasks.intake.tables.keyed import KeyedTable, keyed_table, marks_in
from sdc_tasks.intake.tables.rows import TextRows
from sdc_tasks.model.keys import printed_key
from sdc_tasks.model.layout import TableLayout
from sdc_tasks.model.respondents import NOBODY
from sdc_tasks.model.table import Bools, Ints


def table_with_respondents(records: TextRows, layout: TableLayout) -> KeyedTable:
    """As `keyed_table`, with the lone respondents that the records tell."""
    keyed = keyed_table(records, layout)
    singleton, respondent = respondents_in(records, keyed, layout)
    if not singleton.any():
        return keyed
    return replace(keyed, table=replace(keyed.table, singleton=singleton, respondent=respondent))


def respondents_in(records: TextRows, keyed: KeyedTable, layout: TableLayout) -> tuple[Bools, Ints]:
    """(n), (n): which cells have a single respondent, and a number for who he is, NOBODY where
    nobody told.
    """
    singleton, respondent = np.zeros(len(keyed.keys), dtype=bool), np.full(len(keyed.keys), NOBODY)
    if (column := layout.column("singleton", records)) is not None:
        singleton[keyed.cell] = marks_in(
            records, column, key=lambda i: printed_key(keyed.keys[int(keyed.cell[i])])
        )
    if (column := layout.column("respondent", records)) is not None:
        texts = records.column(column)
        number = {text: i for i, text in enumerate(sorted(set(texts) - {""}))}
        respondent[keyed.cell] = [number.get(text, NOBODY) for text in texts]
    return singleton | (respondent != NOBODY), respondent
