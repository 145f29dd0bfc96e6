"""Who takes part in a contest: a searcher, its settings, and what it follows, in one piece of text.

    evolution                                      follows the proxy of the contest
    evolution@measured                             follows what was measured of architectures
    evolution@dextr                                follows another proxy
    evolution(population=10, sample=3)@measured    has settings of its own; `evaluations` may be among them
    young=evolution(population=10)@measured        has a name of its own
    nsga2@foresee+params                           follows several objectives; it is judged by its best of the first

An entry that follows something else than `measured` sees nothing of the table.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from foresee.budgets import QUANTITIES
from foresee.errors import InputError, UnknownNameError, shown
from foresee.proxies.base import get as get_proxy
from foresee.proxies.base import proxies
from foresee.registry import check_settings, tidy
from foresee.searchers.base import searchers
from foresee.searchers.problem import MEASURED

#: what is scored of a candidate whose measured value is all that counts: it is known by formula
NOTHING_SCORED = "params"
#: the setting of an entry that is none of its searcher's
EVALUATIONS = "evaluations"
_FORM = re.compile(
    r"\s*(?:(?P<label>[^=()@]+)=)?\s*(?P<searcher>[\w-]+)\s*(?:\((?P<settings>.*)\))?\s*(?:@(?P<follows>[^()]+))?\s*",
    re.DOTALL,
)


@dataclass(frozen=True)
class Entry:
    """One searcher of a contest; `follows` are its objectives, `named` is the name it was given, "" where none was.

    `label` is what it is called in tables and pictures: its name, or `searcher@follows`, with its settings where another
    would be called the same.
    """

    searcher: str
    follows: tuple[str, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)
    evaluations: int | None = None
    named: str = ""
    label: str = field(default="", compare=False, repr=False)

    def __post_init__(self) -> None:
        if not self.label:
            object.__setattr__(self, "label", self.named or str(self))

    @classmethod
    def parse(cls, text: str, proxy: str) -> Entry:
        """The entry that a text names; where it does not say what is followed, `measured` if its searcher usually does that,
        else the proxy.

        >>> Entry.parse("young=evolution(population=10)@measured", "foresee")
        Entry(searcher='evolution', follows=('measured',), settings={'population': 10}, evaluations=None, named='young')
        >>> str(Entry.parse("random", "foresee"))
        'random@foresee'
        """
        found = _FORM.fullmatch(text)
        if found is None:
            raise InputError(
                f"searcher {shown(text)}: expected a name such as evolution, evolution@measured or "
                "evolution(population=10)@measured"
            )
        name = tidy(found["searcher"])
        kind = searchers[name]
        usual = MEASURED if kind.measures else proxy
        follows = tuple(tidy(one) for one in (found["follows"] or usual).split("+"))
        settings = dict(map(_pair, split(found["settings"] or "")))
        evaluations = settings.pop(EVALUATIONS, None)
        made = cls(name, follows, settings, evaluations, (found["label"] or "").strip())
        made.check()
        return made

    def check(self) -> None:
        """Names and settings are known; a mistake is said with the nearest."""
        check_settings(f"searcher {self.searcher}", searchers[self.searcher], self.settings)
        many = self.evaluations
        if many is not None and (isinstance(many, bool) or not isinstance(many, int) or many < 1):
            raise InputError(f"{self.searcher}(evaluations={shown(many)}): expected a whole number of at least 1")
        if len(set(self.follows)) < len(self.follows):
            raise InputError(f"{self}: one objective is named twice")
        for one in self.follows:
            if one == MEASURED or (len(self.follows) > 1 and one in QUANTITIES):
                continue
            if one.partition(":")[0] not in proxies:
                raise UnknownNameError(f"objective of {self.searcher}", one, [MEASURED, *proxies])
            get_proxy(one)  # a variant that does not exist is said now

    def __str__(self) -> str:
        """The text that is read as this entry."""
        named = f"{self.named}=" if self.named else ""
        return f"{named}{self.searcher}{f'({self.said})' if self.said else ''}@{'+'.join(self.follows)}"

    @property
    def said(self) -> str:
        """Its settings, as they are written."""
        given = {**self.settings, **({} if self.evaluations is None else {EVALUATIONS: self.evaluations})}
        return ", ".join(f"{key}={_written(value)}" for key, value in given.items())

    @property
    def measured(self) -> bool:
        """Whether it may ask for what was measured."""
        return MEASURED in self.follows

    @property
    def objectives(self) -> tuple[str, ...]:
        """As a search has them: none where the one proxy is followed, also one that has the name of a cost."""
        return self.follows if self.measured or len(self.follows) > 1 else ()

    @property
    def proxies(self) -> tuple[str, ...]:
        """What candidates are scored by."""
        costs = QUANTITIES if len(self.follows) > 1 else ()
        return tuple(one for one in self.follows if one != MEASURED and one not in costs) or (NOTHING_SCORED,)

    def spends(self, budget: int) -> int:
        """How many candidates it proposes: as many as it was told, else as many as it does by itself, within the budget."""
        return min(budget, self.evaluations or searchers[self.searcher].evaluations or budget)


def entries_of(
    wanted: str | Iterable[str], proxy: str, settings: Mapping[str, Mapping[str, Any]] | None = None
) -> list[Entry]:
    """The entries that texts name, each once; `settings` by searcher or by name of an entry are put into them.

    >>> [str(one) for one in entries_of("random, evolution@measured", "dextr", {"evolution": {"sample": 3}})]
    ['random@dextr', 'evolution(sample=3)@measured']
    """
    texts = [wanted] if isinstance(wanted, str) else list(wanted)
    parsed = [Entry.parse(one, proxy) for text in texts for one in split(text)]
    found = [_given(one, settings or {}) for one in parsed]
    if not found:
        raise InputError(f"name searchers to compare: {', '.join(searchers)}")
    labels = [one.label for one in found]
    twice = next((label for label in labels if labels.count(label) > 1), None)
    if twice is not None:
        raise InputError(f"searcher {twice}: takes part twice; give each a name of its own (mine={found[0].searcher})")
    return found


def labelled(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """Entries with short labels, where these tell them apart.

    >>> [one.label for one in labelled(entries_of("random,evolution(sample=3),evolution(sample=4),hers=random", "dextr"))]
    ['random@dextr', 'evolution(sample=3)@dextr', 'evolution(sample=4)@dextr', 'hers']
    """
    found = list(entries)
    short = [one.named or f"{one.searcher}@{'+'.join(one.follows)}" for one in found]
    return tuple(
        replace(one, label=text if short.count(text) == 1 else one.named or str(one))
        for one, text in zip(found, short, strict=True)
    )


def _given(entry: Entry, settings: Mapping[str, Mapping[str, Any]]) -> Entry:
    """The entry with what was set for its searcher, and then for itself; what it says itself wins."""
    own = {**settings.get(entry.searcher, {}), **settings.get(tidy(entry.named), {}), **entry.settings}
    evaluations = own.pop(EVALUATIONS, None) if entry.evaluations is None else entry.evaluations
    own.pop(EVALUATIONS, None)
    made = replace(entry, settings=own, evaluations=evaluations, label="")
    made.check()
    return made


def split(text: str) -> Sequence[str]:
    """The parts between commas, where no bracket or quotation is open.

    >>> split("random, evolution(population=10, sample=3)@measured,")
    ['random', 'evolution(population=10, sample=3)@measured']
    """
    parts, depth, quoted = [""], 0, False
    for sign in text:
        quoted ^= sign == '"'
        depth += 0 if quoted else (sign in "([{") - (sign in ")]}")
        if sign == "," and depth == 0 and not quoted:
            parts.append("")
        else:
            parts[-1] += sign
    return [part.strip() for part in parts if part.strip()]


def _pair(text: str) -> tuple[str, Any]:
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise InputError(f"setting {shown(text)} of a searcher: expected key=value, such as population=32")
    try:
        return tidy(key), json.loads(value)
    except ValueError:
        return tidy(key), value.strip()
    except RecursionError:
        raise InputError(f"setting {tidy(key)}: its value is nested too deep") from None


def _written(value: Any) -> str:
    """A value as `_pair` reads it: text without quotation marks where that is read as text."""
    plain = isinstance(value, str) and re.fullmatch(r"[A-Za-z_][\w:.-]*", value)
    return str(value) if plain and value not in ("true", "false", "null", "NaN", "Infinity") else json.dumps(value)
