"""What the columns of a click log are: which is the label, which are numbers, which are categories, how rows are split.

    schema("criteo")                                  # or "avazu", "kdd2012"
    schema("mine.toml")                               # a file of yours; `base = "criteo"` where it begins as another
    schema("criteo", least=10, split={"by": "order", "train": 0.9, "val": 0.05, "test": 0.05})

A schema file:

    label = "income"
    positive = [">50K"]                               # what means yes
    numeric = ["age", "hours"]
    categories = ["job", "hour_of_day"]

    [derived.hour_of_day]                             # a column made from a time
    from = "seen_at"
    take = "hour"
    format = "%Y-%m-%d %H:%M:%S"

    [split]
    by = "random"
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

from foresee.data.base import digest
from foresee.data.clicks.answers import answers
from foresee.data.clicks.consistency import check_columns
from foresee.data.clicks.splitting import whole_split
from foresee.errors import InputError, UnknownNameError, shown
from foresee.registry import tidy
from foresee.runs.toml import dumps
from foresee.settings import Kind, Settings, name, names, needed, setting, table, whole

#: texts that mean that there is no value, blanks around them aside
MISSING = ("", "NA", "N/A", "NaN", "nan", "NULL", "null", "None", "none", "\\N", "?", "-")
#: what stands in the place of a number that is missing
FILLS = ("mean", "zero")


def _one_of(known: tuple[str, ...]) -> Kind:
    return Kind(f"one of {', '.join(known)}", lambda value: value in known)


def _is_log(value: Any) -> bool:
    return value == "counts" or (isinstance(value, list | tuple) and all(isinstance(one, str) for one in value))


@dataclass(frozen=True)
class Schema(Settings):
    """The columns of a click log, and what becomes of them.

    Args:
        label: the column that says what happened.
        positive: its values that mean yes, as written in the file ("1" is also "1.0"), or one bound such as ">0".
        negative: its values that mean no; none stated: every other value, but of a label of numbers (`positive` is "1")
            only "0". A label that is neither makes its row malformed.
        numeric: columns of numbers.
        categories: columns of categories.
        derived: columns made from a time, by name: `from` (a column), `take` (hour, weekday from Monday = 0, day of the
            month, month) and `format` (as of `strptime`, or "iso", "unix" for seconds and "unix_ms").
        columns: the names by position, for files without a header line.
        optional: columns that a file may lack; they are then missing in every row. In a file without a header line
            these are the last ones.
        delimiter: what stands between fields; None: what the first line says.
        missing: texts that mean that there is no value.
        decimal_commas: numeric columns whose numbers are written as 1.234,5: a comma before the decimals, and points (or
            nothing) between thousands.
        fill: a number that is missing becomes the "mean" of the training rows, or "zero".
        log: numeric columns of which sign(x)·log(1 + |x|) is taken; "counts": those that are whole numbers in all training
            rows and reach 100.
        time: the column that orders rows, where they are split by time.
        split: `by` "random" (the default), "order", "time" or "column"; shares `train`, `val`, `test`, or for a column
            its name and the `values` of each part (rows of other values are left out); `seed` of a random split. By "fold",
            piece `fold` of `folds` is the test, and the share `val` of the rest is for validation.
        least: a category seen in fewer training rows than this is rare; with 1, nothing teaches what a new value means, and
            with few rows the vectors of values that are seen a few times are learnt by heart.
        buckets: how many numbers categories are hashed to, instead of a vocabulary; None: a vocabulary.
        rows: the most values of a vocabulary; the most frequent win.
        name: what the schema is called.

    >>> Schema(label="click", numeric=("age",), categories=("site",)).sources
    ('click', 'age', 'site')
    """

    label: str = needed(name("the name of a column"))
    positive: tuple[str, ...] = setting(("1",), names("a list of texts"))
    negative: tuple[str, ...] = setting((), names("a list of texts"))
    numeric: tuple[str, ...] = setting((), names("a list of columns"))
    categories: tuple[str, ...] = setting((), names("a list of columns"))
    derived: Mapping[str, Mapping[str, str]] = setting({}, table())
    columns: tuple[str, ...] | None = setting(None, names("a list of columns"))
    optional: tuple[str, ...] = setting((), names("a list of columns"))
    delimiter: str | None = setting(
        None, Kind("one character", lambda value: isinstance(value, str) and _is_delimiter(value))
    )
    missing: tuple[str, ...] = setting(MISSING, names("a list of texts"))
    decimal_commas: tuple[str, ...] | None = setting(None, names("a list of columns"))
    fill: str = setting("mean", _one_of(FILLS))
    log: tuple[str, ...] | str = setting("counts", Kind('a list of columns, or "counts"', _is_log))
    time: str | None = setting(None, name("the name of a column"))
    split: Mapping[str, Any] = setting({"by": "random"}, table())
    least: int = setting(10, whole(least=1))
    buckets: int | None = setting(None, whole(least=1, most=2**30))
    rows: int = setting(500_000, whole(least=1, most=2**30))
    name: str = setting("", name())

    def __post_init__(self) -> None:
        for one in fields(self):
            value, kind = getattr(self, one.name), one.metadata["kind"]
            if not (value is None and one.default is None) and not kind.accepts(value):
                raise InputError(f"{self._called}: {one.name} = {shown(value)}: expected {kind.words}")
        super().__post_init__()
        object.__setattr__(self, "missing", tuple(dict.fromkeys(text.strip() for text in self.missing)))
        check_columns(self, self._called)
        object.__setattr__(self, "split", whole_split(self.split, self._called))
        if self.split["by"] == "time" and self.time is None:
            raise InputError(f"{self._called}: a split by time needs to know the column: time = ...")
        if not self.positive:
            raise InputError(f"{self._called}: positive is empty; expected the values of {self.label} that mean yes")
        _ = self.answer

    # -- columns ------------------------------------------------------------------------------------------------------
    @property
    def features(self) -> tuple[str, ...]:
        """All columns that a network sees, numbers first."""
        return (*self.numeric, *self.categories)

    @cached_property
    def sources(self) -> tuple[str, ...]:
        """The columns that are read from a file, each once, the label first."""
        wanted = [self.label]
        wanted += [self.derived[one]["from"] if one in self.derived else one for one in self.features]
        wanted += [] if self.time is None else [self.time]
        wanted += [self.split["column"]] if self.split["by"] == "column" else []
        return tuple(dict.fromkeys(wanted))

    @property
    def answer(self) -> Callable[[str], bool | None]:
        """From the text of a label to yes, no, or None where it is neither.

        >>> [Schema(label="y", numeric=("x",)).answer(text) for text in ("1", "0.0", "2")]
        [True, False, None]
        """
        return answers(self.positive, self.negative, self._called)

    # -- as text ------------------------------------------------------------------------------------------------------
    @property
    def _called(self) -> str:
        return f"schema {self.name}" if self.name else "schema"

    def but(self, **changes: Any) -> Schema:
        """The same with other values; an unknown name is said with the nearest."""
        for key in changes:
            if key not in self.kinds():
                raise UnknownNameError("value of a schema", key, self.kinds())
        return replace(self, **changes)

    def to_toml(self) -> str:
        """Text for a schema file: what is not as usual."""
        usual = {one.name: one.default for one in fields(self)}
        usual |= {"derived": {}, "split": whole_split({}, "")}
        plain = self.to_json()
        return dumps({key: value for key, value in plain.items() if getattr(self, key) != usual[key]})

    @cached_property
    def fingerprint(self) -> str:
        """Of all that decides what a file becomes: not of the name."""
        return digest("schema", sorted(_frozen({key: v for key, v in self.to_json().items() if key != "name"})))


def schema(of: str | Path | Mapping[str, Any] | Schema, **changes: Any) -> Schema:
    """The schema of this name, or in this file; what else is given wins.

    >>> len(schema("criteo").numeric), len(schema("criteo").categories), schema("avazu", least=5).least
    (13, 26, 5)
    """
    if isinstance(of, Mapping):
        of = Schema.from_json(of, where="schema")
    found = of if isinstance(of, Schema) else _named(of) if _is_name(of) else _in_file(Path(of))
    return found.but(**changes) if changes else found


def known() -> list[str]:
    """The names of all schemas that come along.

    >>> known()
    ['avazu', 'criteo', 'kdd2012']
    """
    folder = files(__package__) / "schemas"
    return sorted(file.name.removesuffix(".toml") for file in folder.iterdir() if file.name.endswith(".toml"))


def _is_name(of: str | Path) -> bool:
    return isinstance(of, str) and not of.endswith(".toml")


def _named(of: str | Path) -> Schema:
    found = tidy(str(of))
    if found not in known():
        raise UnknownNameError("schema (and no .toml file)", str(of), known())
    return _from_text((files(__package__) / "schemas" / f"{found}.toml").read_text(encoding="utf-8"), found, found)


def _in_file(path: Path) -> Schema:
    try:
        text = path.expanduser().read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise InputError(f"schema {path}: {getattr(error, 'strerror', None) or error}") from error
    return _from_text(text, path.stem, f"schema {path}")


def _from_text(text: str, called: str, where: str) -> Schema:
    try:
        plain = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not valid TOML: {error}") from error
    base = plain.pop("base", None)
    first = {} if base is None else {key: v for key, v in schema(str(base)).to_json().items() if key != "name"}
    return Schema.from_json({"name": called, **first, **plain}, where=where)


def _is_delimiter(text: str) -> bool:
    return len(text) == 1 and text.isascii() and text not in '"\r\n'


def _frozen(value: Any) -> Any:
    if isinstance(value, Mapping):
        return tuple(sorted((key, _frozen(inner)) for key, inner in value.items()))
    return tuple(map(_frozen, value)) if isinstance(value, list | tuple) else value
