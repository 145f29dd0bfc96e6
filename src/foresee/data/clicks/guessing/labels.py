"""Which column of a click log is its label, and which of its values mean yes: by name and by values.

A label has two values, or says what somebody did (`action` = view, click, buy). Where several columns could be meant, or
none, nobody guesses: the error shows them and says how to choose.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from foresee.data.clicks.guessing.evidence import Column
from foresee.errors import DataError, InputError, UnknownNameError
from foresee.grid import listed

#: names of labels, as letters and digits alone: what happened to an impression, and what came of it later
LABELS = frozenset(
    """
    label labels click clicks clicked isclick isclicked clk hasclick wasclicked clickflag clicklabel target targets y class
    isattributed converted conversion isconverted isconversion hasconverted purchase purchased ispurchase bought buy isbuy
    booked ordered installed install subscribed subscribe churn churned
    """.split()  # noqa: SIM905
)
#: names that are labels where nothing is called by one of the others
MAYBE = frozenset(
    "income response outcome answer result default survived liked islike like istrade trade deposit".split()  # noqa: SIM905
)
#: and words that say it in a longer name
WORDS = frozenset(("label", "click", "clicked", "target", "converted", "conversion", "purchased", "bought"))
#: names of columns that say what somebody did
ACTIONS = (
    "action",
    "event",
    "eventtype",
    "actiontype",
    "behavior",
    "behaviour",
    "behaviortype",
    "behaviourtype",
    "activity",
)
#: values that mean yes in such columns, and in others
DONE = frozenset(
    ("click", "clicked", "clk", "buy", "bought", "purchase", "purchased", "conversion", "converted", "install", "order")
)
SEEN = frozenset(
    ("pv", "view", "impression", "imp", "show", "shown", "cart", "fav", "favorite", "addtocart", "exposure")
)
YES = frozenset(("1", "1.0", "yes", "y", "true", "t", "positive", "pos", "clicked", "click", "success", "on"))
YES |= {"ja", "oui", "si", "sí", "sim", "wahr", "vrai"}
NO = frozenset(("0", "0.0", "-1", "-1.0", "no", "n", "false", "f", "negative", "neg", "off", "none"))
NO |= {"nein", "nee", "non", "não", "nao", "falsch", "faux"}
#: share of the rows in which a value may be a mistake
STRAY = 0.02
#: more values than this say no action
MOST_ACTIONS = 8


@dataclass(frozen=True)
class Label:
    """A column that may be the label: values that mean yes and no (none mean yes where that is not clear), and why."""

    name: str
    positive: tuple[str, ...]
    negative: tuple[str, ...]
    reason: str

    def __str__(self) -> str:
        return f"{self.name} ({', '.join((*self.negative, *self.positive)[:4])})"


def find_label(columns: Sequence[Column], *, header: bool, label: str | None = None, where: str = "the file") -> Label:
    """The label among the columns: the one that is named, or the one that alone looks like it."""
    if label is not None:
        named = next((one for one in columns if one.name == label), None)
        if named is None:
            raise UnknownNameError(f"column of {where}", label, [one.name for one in columns])
        return _of(named, "you said so")
    binary = [one for one in columns if len(_values(one)) == 2]
    acted = [one for one in columns if _is_action(one) and (one.plain_name in ACTIONS or len(_events(one)) > 1)]
    ways = (
        [one for one in columns if one in acted or (one in binary and one.plain_name in LABELS)],
        [one for one in binary if one.plain_name in MAYBE],
        [one for one in binary if set(one.words) & WORDS],
        [one for one in columns if _is_count(one)],
    )
    called = next((some for some in ways if some), [])
    if len(called) == 1:
        return _of(called[0], "its name, and its values")
    if not called and len(binary) == 1 and not binary[0].split:
        return _of(binary[0], "the only column of two values")
    if not called and not header and len(_values(columns[0])) == 2 and len(_values(columns[-1])) != 2:
        return _of(columns[0], "the first column of a file without a header line, and of two values")
    raise DataError(_unclear(called or [one for one in binary if not one.split], columns, where))


def other_outcomes(columns: Sequence[Column], label: str) -> list[str]:
    """Further columns that are called as labels are: what happened as well, or later, which nobody knows before the click."""
    return [one.name for one in columns if one.name != label and one.plain_name in LABELS and len(_values(one)) <= 2]


def _of(column: Column, why: str) -> Label:
    """The label in this column, with the values that mean yes."""
    values = _values(column)
    if len(values) < 2:
        seen = f"only the value {values[0]!r}" if values else "no value"
        raise DataError(
            f"label {column.name!r}: {seen} in the rows that were looked at; name another column by --label"
        )
    yes = [value for value in values if value.lower() in (DONE if _is_action(column) else YES)]
    if len(values) == 2 and len(yes) == 1:
        how = f"{yes[0]} means yes"
    elif len(values) == 2 and sum(value.startswith(">") for value in values) == 1:
        yes = [value for value in values if value.startswith(">")]
        how = f"{yes[0]} means yes"
    elif len(values) == 2 and sum(value.lower() in NO for value in values) == 1:
        yes = [value for value in values if value.lower() not in NO]
        how = f"{yes[0]} means yes"
    elif len(values) == 2:
        yes, how = [values[-1]], f"{values[-1]} means yes, being the rarer one"
    elif _is_action(column):
        how = f"{listed(yes)} means yes, of {listed(values)}"
    elif column.whole and column.numbers is not None and column.numbers.min() == 0:
        return Label(column.name, (">0",), (), f"{why}; a count, of which more than 0 means yes")
    else:
        raise InputError(
            f"label {column.name!r} has {len(values):,} values, such as {', '.join(values[:3])}: say in a --schema which of "
            "them mean yes (positive = [...])"
        )
    return Label(column.name, tuple(yes), tuple(value for value in values if value not in yes), f"{why}; {how}")


def _values(column: Column) -> list[str]:
    """Its values, the most frequent first; without what stands in hardly any row, where a row or two are malformed."""
    values = [value for value, _ in column.counts.most_common()]
    known = [value for value in values if value.lower() in YES | NO]
    kept = known if len(known) == 2 else [value for value in values if column.counts[value] > STRAY * len(column.there)]
    covered = sum(column.counts[value] for value in kept)
    return kept if len(kept) >= 2 and covered >= (1 - STRAY) * len(column.there) else values


def _is_action(column: Column) -> bool:
    """Whether its values say what somebody did, one thing of which is to be foreseen."""
    return 2 <= len(column.counts) <= MOST_ACTIONS and len(_events(column) & DONE) == 1


def _is_count(column: Column) -> bool:
    """Whether it counts what a label says: `clicks`, `conversions`, whole numbers from 0."""
    called = {column.plain_name, column.plain_name.removesuffix("s")} & LABELS
    return bool(called) and column.whole and column.numbers is not None and column.numbers.min() == 0


def _events(column: Column) -> set[str]:
    """Those of its values that say what somebody did."""
    return {value.lower() for value in column.counts} & (DONE | SEEN) if len(column.counts) <= MOST_ACTIONS else set()


def _unclear(several: Sequence[Column], columns: Sequence[Column], where: str) -> str:
    how = "name it by --label, or describe the file by --schema"
    if several:
        shown = [f"{one.name} ({', '.join(list(one.counts)[:3])})" for one in several[:8]]
        return f"{where}: several columns may be the label: {listed(shown)}; {how}"
    names = ", ".join(one.name for one in columns[:30]) + (", ..." if len(columns) > 30 else "")
    return f"{where}: no column of two values that may be the label; {how}. There are {names}"
