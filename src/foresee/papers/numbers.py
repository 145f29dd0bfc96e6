"""What the papers print: 61 tables in one data file, with where each number stands in its source.

>>> table = published("dextr-table-1")
>>> table.row("dextr").values["nasbench201-cifar10"]
0.9
>>> len(names())
61
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from foresee.errors import UnknownNameError

#: where the numbers come from
DOCUMENTS = {
    "dextr": "Asthana et al., Dextr: Zero-Shot Neural Architecture Search with Singular Value Decomposition and Extrinsic "
    "Curvature, TMLR 2025",
    "sigeo": "SiGeo: Sub-One-Shot NAS via Geometry of Loss Landscape",
    "nasi": "Shu et al., NASI: Label- and Data-agnostic Neural Architecture Search at Initialization, ICLR 2022",
    "thesis": "Shu, thesis on what neural architecture search selects, ensembles, NASI (chapter 6) and HNAS (chapter 7)",
}

_IMAGENET = "quoted: it needs networks trained on ImageNet, 1.3 million images that are not at hand"
_SETTINGS = "quoted: it prints settings and remarks, in which there is nothing to measure"

#: why our column is empty, for every table that is not computed here
WHY_EMPTY = {
    "dextr-table-9": _SETTINGS,
    "dextr-quoted": _SETTINGS,
    "sigeo-settings": _SETTINGS,
    "nasi-table-5": _IMAGENET,
    "thesis-table-5.3": _IMAGENET,
    "thesis-table-6.3": _IMAGENET,
    "thesis-table-7.8": _IMAGENET,
}


@dataclass(frozen=True)
class Row:
    """One row as printed. `key` is its name as a slug; `group` the sub-heading it stands under, "" where there is none."""

    name: str
    key: str
    values: Mapping[str, float | None]
    group: str = ""
    std: Mapping[str, float] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)
    note: str = ""

    @property
    def address(self) -> str:
        """Its name among all rows of the table: `key`, or `group/key`."""
        return f"{self.group}/{self.key}" if self.group else self.key


@dataclass(frozen=True)
class Column:
    """What a column holds; `decimals` as printed (None where they differ)."""

    name: str
    metric: str
    unit: str
    higher_is_better: bool | None
    decimals: int | None


@dataclass(frozen=True)
class Published:
    """A table of a paper."""

    name: str
    caption: str
    where: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    note: str = ""
    std_kind: str = ""

    @property
    def document(self) -> str:
        """The paper it stands in, in words."""
        return DOCUMENTS[self.name.partition("-")[0]]

    def column(self, name: str) -> Column:
        """A column by name."""
        for column in self.columns:
            if column.name == name:
                return column
        raise UnknownNameError(f"column of {self.name}", name, [column.name for column in self.columns])

    def row(self, address: str) -> Row:
        """A row by `key`, or `group/key` where rows stand in groups."""
        for row in self.rows:
            if row.address == address:
                return row
        raise UnknownNameError(f"row of {self.name}", address, [row.address for row in self.rows])


def names() -> list[str]:
    """Names of all published tables, in the order of the papers."""
    return list(_all())


def published(name: str) -> Published:
    """A table by name; an unknown name is answered with the nearest ones."""
    tables = _all()
    if name not in tables:
        raise UnknownNameError("table of a paper", name, tables)
    return tables[name]


@cache
def _all() -> dict[str, Published]:
    text = files(__package__).joinpath("numbers.json").read_text(encoding="utf-8")
    return {
        f"{document}-{table}": _read(f"{document}-{table}", plain)
        for document, tables in json.loads(text).items()
        for table, plain in tables.items()
    }


def _read(name: str, plain: Mapping[str, Any]) -> Published:
    columns = tuple(
        Column(column, info["metric"], info["unit"], info["higher_is_better"], info.get("decimals"))
        for column in plain["columns"]
        for info in [plain["column_info"][column]]
    )
    rows = tuple(
        Row(
            row["name"],
            row["key"],
            row["values"],
            row.get("group") or "",
            row.get("std", {}),
            row.get("null_reason", {}),
            row.get("note", ""),
        )
        for row in plain["rows"]
    )
    where = plain["source"].partition(", ")[2]  # the part before the comma names the file it was read from
    return Published(name, plain["caption"], where, columns, rows, plain.get("note", ""), plain.get("std_kind", ""))
