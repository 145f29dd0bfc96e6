"""The space of a function that asks for its picks, and how it is found again by `module:function`."""

from __future__ import annotations

import inspect
import json
import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

from torch import nn

from foresee.errors import BuildError, ForeseeError, InputError, UnknownNameError
from foresee.spaces.base import Space
from foresee.spaces.counting import on_meta
from foresee.spaces.own.boxes import Drawing
from foresee.spaces.own.drawing import drawing_of
from foresee.spaces.own.listing import count, ways
from foresee.spaces.own.loading import load_object, one_line, reference_to
from foresee.spaces.own.picks import Answers, Decide, Pick, Picks, RejectedError, Value, same
from foresee.spaces.own.source import source_of
from foresee.task import Task

#: `size` looks through at most this many architectures; a larger space has no known size
ENUMERATION_LIMIT = 1000
#: how a run names a function that only the person can hand over again
GIVEN = "given"
#: draws in a row that the function may reject before that is said
TRIES = 50


class OwnSpace(Space[Picks]):
    """The space of a function `make_net(pick)` or `make_net(pick, task)` that returns a network; see `own`."""

    name = "own"
    summary = "your own code: a function that calls pick(name, choices) wherever it has a choice"

    def __init__(self, make_net: Callable[..., nn.Module], reference: str = "", *, task: Any = None) -> None:
        self.make_net, self._reference = make_net, reference
        self.title = reference or getattr(make_net, "__qualname__", type(make_net).__name__)
        self._wants_task = _wants_task(make_net, self.title)
        given = task if task is None or isinstance(task, Task) else Task.from_json(task)
        #: the task that picks are asked for, where it was given and matters
        self.task: Task | None = given if self._wants_task else None
        self._size: int | None = -1  # not counted yet

    @property
    def reference(self) -> str:
        """`module:function`, or `path/to/file.py:function` for a script; `given:function` where no name leads back to it
        (a notebook cell, a lambda), as long as its source can be read.
        """
        if self._reference:
            return self._reference
        try:
            return reference_to(self.make_net)
        except InputError:
            if self.code:
                return f"{GIVEN}:{self.title}"
            raise

    @cached_property
    def code(self) -> str:  # type: ignore[override]
        """The source of a function that no name leads back to; "" for all others."""
        if self._reference:
            return ""
        try:
            reference_to(self.make_net)
        except InputError:
            return source_of(self.make_net)
        return ""

    def _call(self, pick: Pick, task: Task) -> nn.Module:
        network = self.make_net(pick, task) if self._wants_task else self.make_net(pick)
        if not isinstance(network, nn.Module):
            raise TypeError(f"it returned a {type(network).__name__}, expected a torch.nn.Module")
        return network

    def ask(self, begin: Callable[[], Decide], rng: random.Random | None = None) -> Picks:
        """The picks only. A run that fails on the meta device begins again on the CPU, with the same random numbers.

        Picks with which the function fails are an architecture too, one without a network.

        Raises:
            RejectedError: the function does not want these picks.
        """
        state = rng.getstate() if rng else ()
        pick = Pick(begin())
        task = self.task or Task()

        def attempt() -> str | None:
            nonlocal pick
            if rng:
                rng.setstate(state)
            pick = Pick(begin())
            try:
                self._call(pick, task)
            except RejectedError as error:  # no other device would change its mind
                return str(error)
            return None

        try:
            why = on_meta(attempt)
        except ForeseeError:  # a pick that cannot be asked for, an answer that is not there
            raise
        except ValueError as error:
            why = one_line(error)
        except Exception as error:
            return Picks.of(pick, one_line(error))
        if why is None:
            return Picks.of(pick)
        rejected = RejectedError(f"{self.title} rejects {Picks.of(pick)}{self._where(task)}: {why}")
        rejected.picks = Picks.of(pick)
        raise rejected

    def _where(self, task: Task) -> str:
        return f" for inputs {'x'.join(map(str, task.inputs))}" if self._wants_task else ""

    def _accepted(self, draw: Callable[[], Picks]) -> Picks:
        """Draw until the function does not reject what it was asked for."""
        for attempt in range(TRIES):
            try:
                return draw()
            except RejectedError as error:
                self.rejected += 1
                if attempt == TRIES - 1:
                    raise RejectedError(f"{TRIES} draws in a row were rejected, the last: {error}") from error
        raise AssertionError("unreachable")

    def sample(self, rng: random.Random) -> Picks:
        """Run the function with every pick drawn at random, until it does not reject what was drawn."""
        return self._accepted(lambda: self.ask(lambda: lambda name, answers: answers.draw(rng), rng))

    def mutate(self, architecture: Picks, rng: random.Random) -> Picks:
        """Change one pick; keep the others that are still asked and still allowed, draw the new ones."""
        old = architecture.values
        free = [name for name, answers in architecture.answers.items() if answers.size != 1]
        if not free:
            raise InputError(f"{self.title}: {architecture} has no pick with another answer to change to")

        def draw() -> Picks:
            changed = rng.choice(free)

            def decide(name: str, answers: Answers) -> Value:
                known = name in old and answers.holds(old[name])
                if known and name != changed:
                    return old[name]
                value = answers.draw(rng)
                while known and answers.size != 1 and same(value, old[name]):
                    value = answers.draw(rng)
                return value

            return self.ask(lambda: decide, rng)

        return self._accepted(draw)

    def crossover(self, first: Picks, second: Picks, rng: random.Random) -> Picks:
        """Each pick from a parent that has an allowed answer to it, drawn where neither has."""

        def decide(name: str, answers: Answers) -> Value:
            given = [parent.values[name] for parent in (first, second) if name in parent.values]
            allowed = [value for value in given if answers.holds(value)]
            return rng.choice(allowed) if allowed else answers.draw(rng)

        return self._accepted(lambda: self.ask(lambda: decide, rng))

    def parse(self, text: str) -> Picks:
        """Read JSON such as `{"depth":3,"width":64}` and check it by running the function."""
        try:
            values = json.loads(text)
            if not isinstance(values, dict):
                raise ValueError("not an object")
        except (ValueError, RecursionError) as error:
            raise InputError(f'architecture {text!r}: {error}; expected JSON such as {{"width":64}}') from error
        picks = self.ask(lambda: self._replay(values))
        self._check_asked(values, picks.values)
        return picks

    def _check_asked(self, wanted: Iterable[str], asked: Iterable[str]) -> None:
        known = set(asked)
        for name in wanted:
            if name not in known:
                raise UnknownNameError(f"pick in the architecture of {self.title}", name, known)

    def _replay(self, values: Mapping[str, Value]) -> Decide:
        def decide(name: str, answers: Answers) -> Value:
            if name not in values or not answers.holds(values[name]):
                given = f"is {values[name]!r}" if name in values else "is missing"
                raise InputError(f"architecture of {self.title}: pick {name!r} {given}, expected {answers}")
            return values[name]

        return decide

    def enumerate(self) -> Iterator[Picks]:
        """Every architecture once, depth first in the order of asking; real numbers end it with an `InputError`."""
        return (picks for picks, wanted in self.ways() if wanted)

    def ways(self) -> Iterator[tuple[Picks, bool]]:
        """Every way through the picks, and whether the function wants it."""
        return ways(self.ask)

    @property
    def size(self) -> int | None:
        """Number of architectures where all picks can be listed and there are at most `ENUMERATION_LIMIT`."""
        if self._size == -1:
            self._size = count(self.ask, ENUMERATION_LIMIT)
        return self._size

    @property
    def enumerable(self) -> bool:
        """Whether the space is known to be finite and small."""
        return self.size is not None

    def build(self, architecture: Picks, task: Task) -> nn.Module:
        """Run the function with these picks."""
        pick = Pick(self._replay(architecture.values))
        try:
            network = self._call(pick, task)
        except RejectedError as error:
            raise BuildError(f"{self.title} rejects it{self._where(task)}: {error}") from error
        except ForeseeError:
            raise
        except Exception as error:
            raise BuildError(f"{self.title} failed{self._where(task)}: {one_line(error)}") from error
        self._check_asked(architecture.values, pick.asked)
        return network

    def drawing(self, architecture: Picks, task: Task) -> Drawing:
        """The network as boxes and lines, found by running it once on the meta device."""
        return on_meta(lambda: drawing_of(self.build(architecture, task), task.example()))


def own(make_net: Callable[..., nn.Module], *, task: Task | Mapping[str, Any] | None = None) -> OwnSpace:
    """The space of a function `make_net(pick)` or `make_net(pick, task)` that returns a network.

    `pick(name, choices)`, `pick.int(name, low, high, step=1)`, `pick.number(name, low, high)` and `pick.log(name, low, high)`
    may be asked anywhere in it, in loops and under conditions; `pick.sub("encoder")` is the same pick for a part, whose names
    begin with `encoder.`. `pick.reject(why)` (or a raised `ValueError`) turns a combination down: another is drawn. Any other
    error is an architecture that fails. `task` is the one a two-argument function is run for while only picks are wanted
    (default: 3x32x32 images, 10 outputs).

    >>> space = own(lambda pick: nn.Linear(4, pick("width", [8, 16])))
    >>> [str(picks) for picks in space.enumerate()]
    ['{"width":8}', '{"width":16}']
    """
    return OwnSpace(make_net, task=task)


def _wants_task(make_net: Callable[..., Any], title: str) -> bool:
    """Whether the function takes the task as its second argument."""
    try:
        signature = inspect.signature(make_net)
    except (TypeError, ValueError):
        raise InputError(f"own space over a {type(make_net).__name__}: expected a function make_net(pick)") from None
    places = [p for p in signature.parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    needed = sum(p.default is p.empty for p in places)
    if not places or needed > 2:
        raise InputError(f"{title}{signature}: a space is a function make_net(pick) or make_net(pick, task)")
    return needed == 2 or (len(places) > 1 and places[1].name == "task")


def load(reference: str, **settings: Any) -> OwnSpace:
    """The own space `module:function` or `path/to/file.py:function`."""
    place, _, name = reference.rpartition(":")
    if place == GIVEN:
        raise InputError(f"{reference} is a function that was handed over in Python: hand it over again (space={name})")
    for key in settings:
        if key != "task":
            raise UnknownNameError("setting of an own space", key, ["task"])
    return OwnSpace(load_object(reference), reference, **settings)
