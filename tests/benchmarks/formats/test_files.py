"""Tables as files: what is written is read again, and a file is what it should be before it is read."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples

from foresee.benchmarks import Table, load, save
from foresee.benchmarks.formats.collect import Collector
from foresee.benchmarks.table import LARGEST
from foresee.errors import DataError, InputError, UnknownNameError


def same(first: Table, second: Table) -> None:
    """Equal by all that both files keep."""
    assert first.space == second.space
    assert dict(first.space_settings) == dict(second.space_settings)
    assert list(first.architectures) == list(second.architectures)
    for kind in ("costs", "proxies"):
        ours, theirs = getattr(first, kind), getattr(second, kind)
        assert ours.keys() == theirs.keys()
        for name in ours:
            np.testing.assert_array_equal(ours[name], theirs[name])

    def plain(table):
        rows = table.rows
        names = ([rows.tasks[code] for code in rows.task], [rows.metrics[code] for code in rows.metric])
        columns = (rows.architecture.tolist(), rows.epochs.tolist(), rows.seed.tolist(), rows.value.tolist())
        return sorted(zip(*names, *columns, strict=True))

    assert plain(first) == plain(second)


@st.composite
def tables(draw) -> Table:
    text = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12).filter(
        lambda t: t == t.strip()
    )
    number = st.floats(-LARGEST, LARGEST)
    name = st.sampled_from(["acc", "val_loss", "ä b", "top1"])
    collector = Collector("drawn", draw(st.sampled_from(["", "nasbench201"])))
    for architecture in draw(st.lists(text, min_size=1, max_size=5, unique=True)):
        collector.new(architecture)
    place = st.integers(0, len(collector._places) - 1)
    keys = st.tuples(place, name, st.sampled_from(["", "cifar10"]), st.integers(-1, 300), st.integers(-1, 2**31 - 1))
    for where, metric, task, epochs, seed in draw(st.lists(keys, max_size=8, unique=True)):
        collector.measure(where, draw(number), metric, task, epochs, seed)
    for where, cost in draw(st.lists(st.tuples(place, st.sampled_from(["params", "macs:x"])), max_size=3, unique=True)):
        collector.cost(where, cost, draw(number))
    for where in draw(st.lists(place, max_size=3, unique=True)):
        collector.proxy(where, "zen", draw(number))
    return collector.table()


@examples(30)
@given(table=tables(), ending=st.sampled_from([".npz", ".csv", ".csv.gz"]))
def test_what_is_written_is_read_again(tmp_path_factory, table, ending):
    path = tmp_path_factory.mktemp("table") / f"t{ending}"
    save(table, path)
    first = path.read_bytes()
    same(load(path), table)
    save(table, path)
    assert path.read_bytes() == first  # the same table gives the same bytes
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_the_own_form_keeps_aliases_and_where_it_came_from(tmp_path, table):
    whole = replace(table, source="x.csv", sha256="ab" * 32, space_settings={"loose_ends": "listed"})
    save(whole, tmp_path / "t.npz")
    again = load(tmp_path / "t.npz")
    assert (again.source, again.sha256, again.space_settings) == ("x.csv", "ab" * 32, {"loose_ends": "listed"})
    assert dict(again.aliases) == dict(table.aliases)


def test_a_file_that_cannot_be_written_is_one_error(tmp_path, table):
    for name in ("t.npz", "t.csv"):
        with pytest.raises(DataError, match="cannot be written"):
            save(table, tmp_path / "missing" / name)


def test_a_name_says_how_a_table_is_written(tmp_path, table):
    with pytest.raises(InputError, match=r"t\.json: a table is written as \.npz"):
        save(table, tmp_path / "t.json")
    assert not list(tmp_path.iterdir())


def test_load_checks_the_digest_it_is_given(tmp_path, table):
    save(table, tmp_path / "t.npz")
    digest = hashlib.sha256((tmp_path / "t.npz").read_bytes()).hexdigest()
    same(load(tmp_path / "t.npz", sha256=digest.upper()), table)
    with pytest.raises(DataError, match=f"sha256 is {digest}, expected 00"):
        load(tmp_path / "t.npz", sha256="00" * 32)
    with pytest.raises(DataError, match="no such file"):
        load(tmp_path / "other.npz")
    with pytest.raises(UnknownNameError, match="nasbench201"):
        load(tmp_path / "t.npz", space="nasbench2001")


MEASURE = """
import json, sys, time
from pathlib import Path
from foresee.benchmarks import load
start = time.perf_counter()
table = load(sys.argv[1])
table.values("test_acc_cifar10")
seconds = time.perf_counter() - start
peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
print(json.dumps([seconds, int(peak.split()[1]) / 1024, len(table), "torch" in sys.modules]))
"""


def test_all_of_nasbench201_loads_at_once(data_folder):
    """The budget is a second and 200 MB; the process is measured whole, interpreter and numpy included."""
    path = data_folder / "nas" / "nb201_cifar10.csv.gz"
    if not Path("/proc/self/status").exists():
        pytest.skip("the peak of a process is read from /proc, which this system does not have")
    done = subprocess.run([sys.executable, "-c", MEASURE, str(path)], capture_output=True, text=True, check=True)
    seconds, megabytes, count, torch = json.loads(done.stdout)
    assert count == 15_625
    assert not torch  # whose import alone takes seconds and as much memory again
    assert megabytes < 200
    assert seconds < 5  # 0.2 to 0.3 s measured; the bound only catches a mistake, whatever else the machine is doing
