from __future__ import annotations

import csv
from datetime import datetime

import pytest

from foresee.data.clicks.made.generating import generated, lines
from foresee.data.clicks.made.published import FORMS
from foresee.data.clicks.schema import schema

WIDTHS = {"csv": 15, "criteo": 40, "avazu": 24, "kdd2012": 12}


@pytest.mark.parametrize("form", FORMS)
def test_every_row_of_a_form_has_its_fields_and_a_label(form, tmp_path):
    made = generated(tmp_path / "log", 1500, seed=3, form=form)
    rows = list(csv.reader((tmp_path / "log").read_text().splitlines(), delimiter=FORMS[form].delimiter))
    if FORMS[form].header is not None:
        assert tuple(rows.pop(0)) == tuple(FORMS[form].header)
    assert {len(row) for row in rows} == {WIDTHS[form]}
    labels = [row[FORMS[form].label] for row in rows]
    assert (len(rows), labels.count("1")) == (1500, made.clicks)
    assert set(labels) == {"0", "1"}
    assert made.malformed == 0


@pytest.mark.parametrize("form", ["criteo", "avazu", "kdd2012"])
def test_columns_are_those_of_the_schema_of_that_name(form):
    known = schema(form)
    header = FORMS[form].header
    there = [name for name in known.columns if name not in known.optional]
    assert WIDTHS[form] == len(there)
    assert header is None or list(header) == there


def test_rows_of_avazu_come_in_the_order_of_time():
    hours = [line.split(",")[2] for line in lines(4500, form="avazu")[1:]]
    assert hours == sorted(hours)
    assert [datetime.strptime(one, "%y%m%d%H").day for one in (hours[0], hours[-1])] == [21, 23]
    ids = [line.split(",")[0] for line in lines(4500, form="avazu")[1:]]
    assert len(set(ids)) == len(ids)
