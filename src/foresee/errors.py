"""Every error a user can meet, in one tree.

A message names the value, what was expected, and what to do. On the command line any `ForeseeError` is one line and
exit code 2; a stack trace is for our own mistakes only.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def shown(value: object, most: int = 200) -> str:
    """A value for a message: cut where it is long, and never an error itself.

    >>> shown([3, 8, 8]), shown("9" * 1000, most=5), shown(1 << 100_000)
    ('[3, 8, 8]', "'9999...", 'a int that is too large to show')
    """
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # more than 4,300 digits; thousands of lists in lists
        return f"a {type(value).__name__} that is too large to show"
    return text if len(text) <= most else f"{text[:most]}..."


class ForeseeError(Exception):
    """Base of everything foresee raises on purpose."""


class InputError(ForeseeError, ValueError):
    """A value handed in is malformed: an architecture, a shape, a quantity, a setting."""


class UnknownNameError(InputError):
    """A name that is not registered; the message lists the nearest ones.

    >>> str(UnknownNameError("proxy", "dexter", ["dextr", "zico"]))
    "unknown proxy 'dexter': did you mean dextr?"
    """

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        self.kind, self.name, self.known = kind, name, sorted(set(known))
        near = get_close_matches(name, self.known, n=3, cutoff=0.5)
        hint = f"did you mean {', '.join(near)}?" if near else f"there are {', '.join(self.known) or 'none'}"
        super().__init__(f"unknown {kind} {name!r}: {hint}")

    def __reduce__(self) -> tuple[type[UnknownNameError], tuple[str, str, list[str]]]:
        return type(self), (self.kind, self.name, self.known)


class BuildError(InputError):
    """An architecture has no network: it cannot be built, or does not run on the inputs of the task."""


class DataError(ForeseeError):
    """Data that cannot be read or must not be used: missing, empty, truncated, non-finite."""


class UnsupportedError(ForeseeError):
    """A proxy, space or engine does not apply here; the reason says why. A score turns it into a status."""


class InfeasibleError(ForeseeError):
    """No architecture meets the budgets; the message names the nearest miss."""


class SearchError(ForeseeError):
    """A search that is not worth going on with: nearly all candidates fail; the message says what they have in common."""


class TrainingError(ForeseeError):
    """A training that cannot go on: a loss that is no number, not enough memory; the message says what to do."""


class RunError(ForeseeError):
    """A run folder or store that cannot be used: it exists, belongs to another program, or is damaged."""


class BusyError(RunError):
    """Another process is at work in the folder; it can be waited for."""


class SettingsMismatchError(RunError):
    """A run is resumed with other settings than its own; the message names each difference."""


class MissingExtraError(ForeseeError, ImportError):
    """An optional library is needed; the message says which extra installs it."""


#: of a stranger's text, so much is kept
KEPT_CHARACTERS = 4000


def said(error: BaseException) -> str:
    """An error of a stranger's code as a reason: its kind and its text, whatever that text is.

    >>> said(ValueError("no good"))
    'ValueError: no good'
    """
    try:
        text = str(error)
    except Exception:  # even asking for the text may raise
        text = "it has no text"
    return storable(f"{type(error).__name__}: {text}")


def storable(text: str) -> str:
    r"""The text as it can be written anywhere: half characters replaced, and not without end.

    >>> storable("a\ud800b")
    'a?b'
    """
    kept = text if len(text) <= KEPT_CHARACTERS else f"{text[:KEPT_CHARACTERS]}…"
    return kept.encode("utf-8", "replace").decode("utf-8")
