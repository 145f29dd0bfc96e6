"""A table is read, the same twice, or refused in one line; nothing that a file names is imported or run.

Tables as csv, compressed csv, our own form, JSON and pickles: damaged, with extreme cells, and with names of code in them.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from foresee.benchmarks.formats import load, save
from foresee.benchmarks.table import Table
from foresee.errors import ForeseeError
from hostile import damage, tables
from hostile.canary import Canary
from hostile.commands import foresee
from hostile.promises import or_refused

SECONDS = 180.0
MEBIBYTES = 2048
FILES_PER_CASE = 12


def case(rng: random.Random, folder: Path) -> None:
    """Some files, each loaded twice, and handed to a command now and then."""
    canary = Canary(folder)
    for number in range(FILES_PER_CASE):
        path = rng.choice([_csv, _csv, _own, _json, _pickle])(rng, folder / f"table{number}", canary)
        _load_twice(path)
        canary.check(f"by loading {path.name}")
        if rng.random() < 0.35:
            foresee(_command(rng, path), folder, patience=15).check()
            canary.check(f"by a command on {path.name}")


def _load_twice(path: Path) -> None:
    found = []
    for _ in range(2):
        with or_refused(path.name):
            loaded = load(path)
            found.append(_plain(loaded))
            loaded.checked()
            loaded.find("nothing of the kind")
    assert len(found) in (0, 2), f"{path.name}: read once, and refused the other time"
    assert not found or found[0] == found[1], f"{path.name}: two readings differ"


def _plain(table: Table) -> list[Any]:
    rows = [getattr(table.rows, name).tobytes() for name in table.rows.TYPES]
    columns = {name: column.tobytes() for name, column in (*table.costs.items(), *table.proxies.items())}
    targets = [(target, table.values(target.name).tobytes()) for target in table.targets()]
    return [table.space, list(table.architectures), rows, columns, targets, table.rows.tasks, table.rows.metrics]


def _command(rng: random.Random, path: Path) -> list[str]:
    small = ["--proxy", "params", "--data", "synthetic", "--engine", "serial", "--quiet", "--out", "out"]
    return rng.choice(
        [
            ["table", "info", path.name],
            ["table", "info", path.name, "--json"],
            ["table", "convert", path.name, f"{path.stem}-made.npz", *rng.choice([[], ["--trust-pickle"]])],
            ["bench", "--table", path.name, "--target", tables.TARGET, "--sample", "3", "--bootstrap", "5", *small],
            ["calibrate", "--table", path.name, "--target", tables.TARGET, "--bootstrap", "5", "--trained", "10",
             "--untrained", "params", *small],
        ]
    )  # fmt: skip


# -- files ----------------------------------------------------------------------------------------------------------------
def _csv(rng: random.Random, path: Path, canary: Canary) -> Path:
    """The long csv: a cell of it replaced, lines broken, compressed perhaps."""
    whole = path.with_suffix(".csv")
    save(tables.small_table(), whole)
    rows = list(csv.reader(io.StringIO(whole.read_text())))
    if rng.random() < 0.4:
        _name_code(rng, rows, canary)
    for _ in range(rng.choice([0, 1, 1, 3])):
        row = rng.choice(rows)
        row[rng.randrange(len(row))] = rng.choice(
            [damage.word(rng), rng.choice(damage.NUMBERS), damage.text(rng, row[0])]
        )
    file = io.StringIO()
    csv.writer(file, delimiter=rng.choice(",,,;\t"), lineterminator=rng.choice(["\n", "\n", "\r\n", "\r"])).writerows(
        rows
    )
    content = file.getvalue().encode("utf-8", "surrogatepass")
    if rng.random() < 0.4:
        content = damage.content(rng, content)
    if rng.random() < 0.2:
        whole = path.with_suffix(".csv.gz")
        content = gzip.compress(content, mtime=0)
        content = damage.content(rng, content) if rng.random() < 0.5 else content
    whole.write_bytes(content)
    return whole


def _name_code(rng: random.Random, rows: list[list[str]], canary: Canary) -> None:
    """The space of the csv is code that lies beside it."""
    code = rng.choice(canary.references)
    if "space" in rows[0]:
        place = rows[0].index("space")
        for row in rows[1:]:
            row[place] = code
    else:
        rows[0].append("space")
        for row in rows[1:]:
            row.append(code)


def _own(rng: random.Random, path: Path, canary: Canary) -> Path:
    """Our own form, with another space and with hostile names under a digest that is right, or damaged."""
    whole, table = path.with_suffix(".npz"), tables.small_table()
    draw = rng.random()
    try:
        if draw < 0.4:
            table = replace(table, space=rng.choice(canary.references))
        elif draw < 0.6:
            column = np.full(len(table), rng.choice([0.0, 1.7e308, -1.7e308, np.nan]))
            names = {damage.word(rng).encode("utf-8", "replace").decode(): column}
            table = replace(table, costs=names, space_settings={damage.word(rng): damage.value(rng)})
        save(table, whole)
    except (ForeseeError, ValueError):  # what cannot be written need not be read
        save(tables.small_table(), whole)
    if draw > 0.6:
        whole.write_bytes(damage.content(rng, whole.read_bytes()))
    return whole


def _json(rng: random.Random, path: Path, canary: Canary) -> Path:
    """JSON of the forms that benchmarks have, and of no form at all."""
    whole, cell = path.with_suffix(".json"), tables.small_table().architectures[0]
    plain: Any = rng.choice(
        [
            {"nasbench201": {"cifar10": {cell: {"val_accuracy": 50.0, "params": {"score": 1.0}}}}},
            {rng.choice(canary.references): {"cifar10": {cell: {"val_accuracy": 1}}}},
            [{"architecture": cell, "space": rng.choice(canary.references), "test_acc": 9}],
            {"space": rng.choice(canary.references), "architectures": [cell]},
            damage.value(rng, depth=6),
        ]
    )
    text = json.dumps(plain)
    if rng.random() < 0.5:
        text = damage.text(rng, text)
    whole.write_bytes(text.encode("utf-8", "surrogatepass"))
    return whole


def _pickle(rng: random.Random, path: Path, canary: Canary) -> Path:
    """A pickle that runs code when it is loaded, under any name."""
    whole = path.with_suffix(rng.choice([".pkl", ".pth", ".npz", ".csv", ".json", ".pickle.pbz2"]))
    content = canary.pickle(rng.randrange(5), inside=lambda bomb: {"meta_archs": [bomb], "arch2infos": bomb})
    whole.write_bytes(damage.content(rng, content, 1) if rng.random() < 0.3 else content)
    return whole
