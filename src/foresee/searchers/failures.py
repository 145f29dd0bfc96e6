"""Candidates that fail: when so many do that going on is pointless, and what they have in common.

An own architecture is its picks as JSON, so what failing ones share can be said by name: `depth = 9`. Of other spaces the
reason is said alone.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

#: a search looks at so many candidates before it judges, and gives up when such a share of all so far has failed
LOOKED, SHARE = 20, 0.95
#: so many picks are named, and so many characters of a reason
NAMED, REASON = 3, 300


def hopeless(failed: int, told: int) -> bool:
    """Whether nearly all candidates so far have failed.

    >>> hopeless(19, 20), hopeless(18, 20), hopeless(19, 19)
    (True, False, False)
    """
    return told >= LOOKED and failed >= SHARE * told


def in_words(failed: Sequence[tuple[str, str]], scored: Sequence[str]) -> str:
    """What failed candidates, (architecture, reason), have in common that no scored one has.

    >>> in_words([('{"depth":9,"width":1}', "too deep"), ('{"depth":9,"width":2}', "too deep")], ['{"depth":3,"width":1}'])
    '2 of 3 candidates failed; all have depth = 9: too deep'
    """
    reasons = Counter(reason for _, reason in failed)
    (reason, count), *_ = reasons.most_common(1)
    these = [picks_of(text) for text, why in failed if why == reason]
    good, others = [picks_of(text) for text in scored], [picks_of(text) for text, why in failed if why != reason]
    shared = in_common(these, [*good, *others]) or in_common(these, good)
    who = "all" if count == len(failed) else f"{count} of these"
    have = f" have {' and '.join(shared[:NAMED])}" if shared else " for one reason" if count > 1 else ""
    said = " ".join(reason.split())
    return (
        f"{len(failed)} of {len(failed) + len(scored)} candidates failed; {who}{have}: "
        f"{said if len(said) <= REASON else said[:REASON] + '…'}"
    )


def in_common(failed: Sequence[Mapping[str, Any]], scored: Sequence[Mapping[str, Any]]) -> list[str]:
    """Picks that all failed ones share and no scored one has: a value, or numbers beyond all of the scored ones."""
    found = []
    for name in failed[0] if failed else ():
        if not all(name in one for one in failed):
            continue
        values = [one[name] for one in failed]
        others = [one[name] for one in scored if name in one]
        if len({json.dumps(value) for value in values}) == 1:
            if json.dumps(values[0]) not in map(json.dumps, others):
                found.append(f"{name} = {json.dumps(values[0])}")
        elif others and all(map(_is_number, values + others)):
            if min(values) > max(others):
                found.append(f"{name} ≥ {min(values)}")
            elif max(values) < min(others):
                found.append(f"{name} ≤ {max(values)}")
    return found


def picks_of(text: str) -> dict[str, Any]:
    """The picks of an own architecture by name; none where the text is of another space.

    >>> picks_of('{"depth":3}'), picks_of("|none~0|")
    ({'depth': 3}, {})
    """
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    plain = isinstance(found, dict) and all(
        value is None or isinstance(value, str | int | float) for value in found.values()
    )
    return found if plain else {}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
