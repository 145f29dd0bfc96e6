"""Registries: names to things, filled by decorators and by entry points of other packages."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatchcase
from importlib import import_module
from pkgutil import walk_packages
from typing import Any, Generic, TypeVar

from foresee.errors import InputError, UnknownNameError

T = TypeVar("T")


def tidy(name: str) -> str:
    """The inside form of a name: underscores, no outer spaces (the command line accepts hyphens)."""
    return name.strip().replace("-", "_")


def check_settings(of: str, thing: Callable[..., Any], settings: Iterable[str]) -> None:
    """A setting that `thing` does not take is named, with the nearest it takes.

    >>> check_settings("ball", lambda *, colour="red": colour, ["color"])
    Traceback (most recent call last):
    foresee.errors.UnknownNameError: unknown setting of ball 'color': did you mean colour?
    """
    taken = inspect.signature(thing).parameters.values()
    if any(one.kind is one.VAR_KEYWORD for one in taken):
        return
    known = [one.name for one in taken if one.kind is one.KEYWORD_ONLY]
    for name in settings:
        if name not in known:
            raise UnknownNameError(f"setting of {of}", name, known)


class Registry(Generic[T]):
    """Names to things of one kind.

    `home` is the room whose files register things of this kind: all of them are imported on the first look-up, so a new
    thing is one new file. Other packages offer theirs through the entry-point group `foresee.<room>`, loaded then too. A
    plug-in that fails to load never takes the rest down: its error is kept in `broken` and shown by `foresee doctor`.

    >>> toys: Registry[int] = Registry("toy", group="foresee.toys")
    >>> toys.add("ball", 1); toys.add("bat", 2)
    >>> toys["ball"], toys.names("ba*")
    (1, ['ball', 'bat'])
    """

    def __init__(self, kind: str, *, group: str, home: str = "") -> None:
        self.kind, self.group, self.home = kind, group, home
        self.broken: dict[str, str] = {}
        self._things: dict[str, T] = {}
        self._loaded = False

    def add(self, name: str, thing: T) -> None:
        """Register `thing`; a name can be taken only once."""
        if tidy(name) != name or not name.replace("_", "").replace(":", "").isalnum():
            raise InputError(f"{self.kind} name {name!r}: letters, digits and underscores only")
        if name in self._things and self._things[name] is not thing:
            raise InputError(f"{self.kind} {name!r} is registered already")
        self._things[name] = thing

    def register(self, name: str) -> Callable[[T], T]:
        """Decorator form of `add`."""

        def decorate(thing: T) -> T:
            self.add(name, thing)
            return thing

        return decorate

    def __getitem__(self, name: str) -> T:
        self._load()
        try:
            return self._things[tidy(name)]
        except KeyError:
            raise UnknownNameError(self.kind, name, self._things) from None

    def __contains__(self, name: object) -> bool:
        self._load()
        return isinstance(name, str) and tidy(name) in self._things

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def __len__(self) -> int:
        return len(self.names())

    def names(self, pattern: str = "*") -> list[str]:
        """Sorted names that match a wildcard pattern."""
        self._load()
        return sorted(name for name in self._things if fnmatchcase(name, tidy(pattern)))

    def _load(self) -> None:
        if self._loaded:
            return
        if self.home:  # not marked as done before it is: a file of the room may look up what another one registers
            import_all(self.home)
        self._load_plugins()

    def _load_plugins(self) -> None:
        if self._loaded:
            return
        self._loaded = True
        from importlib.metadata import entry_points  # the slowest of the standard library here, and not always needed

        for entry in entry_points(group=self.group):
            try:
                thing = entry.load()
            except Exception as error:  # a stranger's module may raise anything; it must not break ours
                self.broken[entry.name] = f"{type(error).__name__}: {error}"
                continue
            # A plug-in module may register by decorator while it is imported, or hand over the thing itself.
            if entry.name not in self._things and not _is_module(thing):
                self.add(tidy(entry.name), thing)


def import_all(room: str) -> None:
    """Import every file of a room, in its folders too; a mistake in one of them is ours, and is raised."""
    package = import_module(room)
    for found in walk_packages(package.__path__, f"{room}."):
        import_module(found.name)


def _is_module(thing: object) -> bool:
    return type(thing).__name__ == "module"
