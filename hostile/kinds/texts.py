"""A text is read as an architecture that round-trips, or is an `InputError` in one line; within a second.

Texts are valid ones of every space with things done to them: cut, doubled, renumbered, nested, in other alphabets.
"""

from __future__ import annotations

import random
import time
from pathlib import Path
from typing import Any

from foresee.errors import InputError
from foresee.spaces import get, names
from hostile import damage
from hostile.promises import or_refused

SECONDS = 120.0
TEXTS_PER_CASE = 200


def case(rng: random.Random, folder: Path) -> None:
    """Many texts of one space."""
    name = rng.choice(names())
    space = get(name)
    known = [str(one) for one in space.named.values()] + [str(space.sample(rng)) for _ in range(5)]
    for _ in range(TEXTS_PER_CASE):
        text = damage.text(rng, rng.choice(known)) if rng.random() < 0.95 else damage.word(rng)
        (folder / "steps.txt").write_text(f"get({name!r}).parse({text!a})\n")
        _parse(space, text)


def _parse(space: Any, text: str) -> None:
    shown = f"{text[:200]!a}{'...' if len(text) > 200 else ''}"
    start = time.process_time()
    with or_refused(f"{space.name}, {shown}", by=InputError):
        found = space.parse(text)
        again = space.parse(str(found))
        assert again == found, f"{space.name}: {shown} is read as {found}, and that as {again}"
        assert str(again) == str(found), f"{space.name}: {found} and {again} are equal, but not their texts"
        assert hash(again) == hash(found), f"{space.name}: equal architectures of different hashes: {found}"
        assert space.canonical(again) == space.canonical(found), f"{space.name}: {found} has two identities"
    spent = time.process_time() - start
    assert spent < 1.0, f"{space.name}: {spent:.1f} s for {shown} of {len(text):,} characters"
