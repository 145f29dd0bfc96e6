"""Settings: what was asked, as one frozen value. The same values travel as options, as Python arguments, as TOML, in a store.

A class of settings is a frozen dataclass whose fields say what they take, once:

    @dataclass(frozen=True)
    class Baking(Settings):
        oven: str = setting("electric", name("an oven"))
        minutes: int = setting(30, whole(least=1))

A field that holds settings itself (`part()`) is written flat with the others: people see one table of names.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any, Self

from foresee.errors import InputError, UnknownNameError, shown

#: how deep tables and lists of settings may be nested
DEPTH = 20
#: whole numbers have at most so many bits: more than any use has, and few enough to be written down
BITS = 4096


@dataclass(frozen=True)
class Kind:
    """What a setting takes: a test, and the words that complete "expected ..."; `least` and `most` bound whole numbers."""

    words: str
    accepts: Callable[[Any], bool]
    least: int | None = None
    most: int | None = None


def name(words: str = "a name") -> Kind:
    """Text."""
    return Kind(words, lambda value: isinstance(value, str))


def names(words: str = "a list of names") -> Kind:
    """Several texts."""
    return Kind(words, lambda value: _each(value, lambda one: isinstance(one, str)))


def whole(least: int | None = None, most: int | None = None) -> Kind:
    """A whole number."""
    return Kind("a whole number", _is_whole, least, most)


def sizes(words: str = "a list of sizes such as [3, 32, 32]") -> Kind:
    """Several whole numbers."""
    return Kind(words, lambda value: _each(value, _is_whole))


def table() -> Kind:
    """Names with values, perhaps nested, `DEPTH` deep at most."""
    return Kind(
        f"a table, nested at most {DEPTH} deep", lambda value: isinstance(value, Mapping) and _is_shallow(value)
    )


def setting(default: Any, kind: Kind) -> Any:
    """A field with its default; None means that nothing was asked."""
    if isinstance(default, Mapping):
        return field(default_factory=lambda: dict(default), metadata={"kind": kind})
    return field(default=default, metadata={"kind": kind})


def needed(kind: Kind) -> Any:
    """A field that has to be said."""
    return field(metadata={"kind": kind})


def part(of: type[Settings]) -> Any:
    """A field that holds settings of another class, written flat with these."""
    return field(default_factory=of, metadata={"part": of})


@dataclass(frozen=True)
class Settings:
    """Base of all settings: plain form, checks at the door, differences."""

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            if isinstance(value, list):
                object.__setattr__(self, one.name, tuple(value))
            kind = one.metadata.get("kind")
            if kind and kind.least is not None and value is not None and value < kind.least:
                raise InputError(f"{one.name} = {shown(value)}: at least {kind.least} is needed")
            if kind and kind.most is not None and value is not None and value > kind.most:
                raise InputError(f"{one.name} = {shown(value)}: at most {kind.most:,} are possible")

    @classmethod
    def kinds(cls) -> dict[str, Kind]:
        """Every name that can be said, those of the parts among them, with what it takes."""
        found: dict[str, Kind] = {}
        for one in fields(cls):
            inner = one.metadata.get("part")
            found |= inner.kinds() if inner else {one.name: one.metadata["kind"]}
        return found

    @classmethod
    def of(cls, **given: Any) -> Self:
        """From flat names, each handed to the class it belongs to."""
        for key in given:
            if key not in cls.kinds():
                raise UnknownNameError("setting", key, cls.kinds())
        made: dict[str, Any] = {}
        for one in fields(cls):
            inner = one.metadata.get("part")
            if inner:
                made[one.name] = inner.of(**{key: given[key] for key in inner.kinds() if key in given})
            elif one.name in given:
                made[one.name] = given[one.name]
        return cls(**made)

    def to_json(self) -> dict[str, Any]:
        """Plain values, flat, in the order of the fields; what was not asked is left out."""
        plain: dict[str, Any] = {}
        for one in fields(self):
            value = getattr(self, one.name)
            if isinstance(value, Settings):
                plain |= value.to_json()
            elif value is not None:
                plain[one.name] = _plain(value)
        return plain

    @classmethod
    def from_json(cls, plain: Mapping[str, Any], *, where: str = "settings") -> Self:
        """Checked inverse of `to_json`: unknown names and wrong types are named, with the nearest known name."""
        kinds = cls.kinds()
        for key, value in plain.items():
            if key not in kinds:
                raise UnknownNameError(f"setting in {where}", key, kinds)
            if not kinds[key].accepts(value):
                raise InputError(f"{where}: {key} = {shown(value)}: expected {kinds[key].words}")
        for one in fields(cls):
            if one.name not in plain and "kind" in one.metadata and _has_no_default(one):
                raise InputError(f"{where}: {one.name} is missing")
        return cls.of(**plain)

    @classmethod
    def load(
        cls, path: str | Path, changes: Mapping[str, Any] | None = None, unsaid: Mapping[str, Any] | None = None
    ) -> Self:
        """Read a TOML file; `changes` (given on the command line) win over it, and it wins over `unsaid`."""
        try:
            with Path(path).open("rb") as file:
                plain = tomllib.load(file)
        except OSError as error:
            raise InputError(f"{path}: {error.strerror or error}") from error
        except RecursionError as error:
            raise InputError(f"{path}: not valid TOML: nested too deep") from error
        except ValueError as error:  # also of a number with thousands of digits, and of a path that cannot be
            raise InputError(f"{path}: not valid TOML: {error}") from error
        return cls.from_json({**(unsaid or {}), **plain, **(changes or {})}, where=str(path))

    def differences(self, other: Mapping[str, Any]) -> list[str]:
        """What differs from another run's settings, one line each: `seed: 2 here, 1 in the run`."""
        mine, theirs = _flat(self.to_json()), _flat(type(self).from_json(other).to_json())
        return [
            f"{key}: {mine.get(key, 'unset')} here, {theirs.get(key, 'unset')} in the run"
            for key in sorted(mine.keys() | theirs.keys())
            if mine.get(key) != theirs.get(key)
        ]


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value.bit_length() <= BITS


def _is_shallow(value: Any, depth: int = DEPTH) -> bool:
    if isinstance(value, Mapping | list | tuple):
        inner = value.values() if isinstance(value, Mapping) else value
        return depth > 0 and all(_is_shallow(one, depth - 1) for one in inner)
    return not isinstance(value, int) or value.bit_length() <= BITS


def _each(value: Any, accepts: Callable[[Any], bool]) -> bool:
    return isinstance(value, list | tuple) and all(accepts(one) for one in value)


def _has_no_default(one: Any) -> bool:
    return one.default is MISSING and one.default_factory is MISSING


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(inner) for inner in value]
    return value


def _flat(plain: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in plain.items():
        if isinstance(value, Mapping):
            flat.update(_flat(value, f"{prefix}{key}."))
        else:
            flat[f"{prefix}{key}"] = value
    return flat
