"""Spaces over the user's own code: a function that calls `pick` wherever it has a choice is a space.

    def make_net(pick):
        widths = [20] + [pick(f"width{i}", [32, 64, 128]) for i in range(pick.integer("depth", 1, 4))]
        layers = [nn.Sequential(nn.Linear(a, b), nn.ReLU()) for a, b in zip(widths, widths[1:])]
        return nn.Sequential(*layers, nn.Linear(widths[-1], 2))

    space = foresee.spaces.own(make_net)

Nothing is traced. Sampling runs the function and answers its picks at random; mutating runs it again with one answer
changed; reading a text runs it with the answers of the text. An architecture is the picks that were asked. When only
picks are wanted the function runs on the meta device, where building costs little.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import json
import math
import pkgutil
import random
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from torch import nn

from foresee.errors import ForeseeError, InputError, UnknownNameError
from foresee.spaces.base import Space
from foresee.spaces.counting import on_meta
from foresee.task import Task

Value = str | int | float | bool | None
V = TypeVar("V", bound=Value)

#: `size` looks through at most this many architectures; a larger space has no known size
ENUMERATION_LIMIT = 1000
_FILE_MODULE = "foresee_file_"


# -- picks ------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Listed:
    """Answers that can be listed: plain values, or a range of whole numbers (`log`: drawn evenly in the logarithm)."""

    values: tuple[Value, ...] | range
    log: bool = False

    @property
    def size(self) -> int:
        """How many answers there are."""
        return len(self.values)

    def draw(self, rng: random.Random) -> Value:
        """A random answer."""
        if self.log and isinstance(self.values, range):  # each number gets the stretch of the axis that rounds to it
            low, high = self.values[0], self.values[-1]
            return min(max(round(math.exp(rng.uniform(math.log(low - 0.5), math.log(high + 0.5)))), low), high)
        return rng.choice(self.values)

    def holds(self, value: Value) -> bool:
        """Whether `value` is an answer."""
        if isinstance(self.values, range):
            return type(value) is int and value in self.values
        return any(_same(value, one) for one in self.values)

    def __str__(self) -> str:
        if isinstance(self.values, range):
            steps = f" in steps of {self.values.step}" if self.values.step > 1 else ""
            return f"a whole number from {self.values[0]} to {self.values[-1]}{steps}"
        return "one of " + ", ".join(json.dumps(value) for value in self.values)


@dataclass(frozen=True)
class Interval:
    """Any real number from `low` to `high` (`log`: drawn evenly in the logarithm)."""

    low: float
    high: float
    log: bool = False
    size: None = None

    @property
    def values(self) -> Sequence[Value]:
        """Real numbers cannot be listed."""
        raise InputError(f"not enumerable: a pick may be {self}")

    def draw(self, rng: random.Random) -> float:
        """A random answer."""
        if self.log:
            return min(max(math.exp(rng.uniform(math.log(self.low), math.log(self.high))), self.low), self.high)
        return rng.uniform(self.low, self.high)

    def holds(self, value: Value) -> bool:
        """Whether `value` is an answer."""
        return type(value) is float and self.low <= value <= self.high

    def __str__(self) -> str:
        return f"a real number from {self.low!r} to {self.high!r}"


Answers = Listed | Interval
Decide = Callable[[str, Answers], Value]


def _same(first: Value, second: Value) -> bool:
    return type(first) is type(second) and first == second  # 1, 1.0 and True are three values


class Pick:
    """What the user's function is handed: it asks for one answer by name. A name is asked once in a build."""

    def __init__(self, decide: Decide) -> None:
        self._decide = decide
        self.asked: dict[str, tuple[Answers, Value]] = {}

    def __call__(self, name: str, choices: Sequence[V]) -> V:
        """One of `choices`: plain values (str, int, float, bool, None). For other things, pick their names."""
        if isinstance(choices, str) or not isinstance(choices, Sequence) or not choices:
            raise InputError(f"pick {name!r}: choices {choices!r}, expected a list of at least one plain value")
        for value in choices:
            if type(value) not in (str, int, float, bool, type(None)) or (
                isinstance(value, float) and not math.isfinite(value)
            ):
                raise InputError(f"pick {name!r}: choice {value!r}, expected a finite str, int, float, bool or None")
        if len({(type(value), value) for value in choices}) < len(choices):
            raise InputError(f"pick {name!r}: choices {list(choices)!r} hold the same value twice")
        return self._ask(name, Listed(tuple(choices)))  # type: ignore[return-value]

    def integer(self, name: str, low: int, high: int, step: int = 1, log: bool = False) -> int:
        """A whole number from `low` to `high`, both included."""
        if not all(type(number) is int for number in (low, high, step)) or low > high or step < 1:
            raise InputError(f"pick {name!r}: there is no whole number from {low!r} to {high!r} in steps of {step!r}")
        if log and (low < 1 or step != 1):
            raise InputError(f"pick {name!r}: log needs low of at least 1 and step 1, got {low} and {step}")
        return self._ask(name, Listed(range(low, high + 1, step), log))  # type: ignore[return-value]

    def number(self, name: str, low: float, high: float, log: bool = False) -> float:
        """A real number from `low` to `high`."""
        if not -math.inf < low < high < math.inf or (log and low <= 0):
            raise InputError(f"pick {name!r}: from {low!r} to {high!r}{' (log)' * log}, expected a range of numbers")
        return self._ask(name, Interval(float(low), float(high), log))  # type: ignore[return-value]

    def _ask(self, name: str, answers: Answers) -> Value:
        if not isinstance(name, str) or not name:
            raise InputError(f"pick {name!r}: a pick needs a name, a text that is not empty")
        if name in self.asked:
            how = "twice" if self.asked[name][0] == answers else f"again, now for {answers}"
            raise InputError(f"pick {name!r} is asked {how}: every pick of a build needs its own name")
        value = self._decide(name, answers)
        self.asked[name] = answers, value
        return value


@dataclass(frozen=True)
class Picks:
    """An architecture: the picks that were asked, in that order. Its `str` is compact JSON with sorted keys."""

    text: str
    values: Mapping[str, Value] = field(compare=False, repr=False)
    answers: Mapping[str, Answers] = field(compare=False, repr=False)

    def __str__(self) -> str:
        return self.text

    @classmethod
    def of(cls, pick: Pick) -> Picks:
        """What a build asked and got."""
        values = {name: value for name, (_, value) in pick.asked.items()}
        text = json.dumps(values, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return cls(text, values, {name: answers for name, (answers, _) in pick.asked.items()})


# -- the space --------------------------------------------------------------------------------------------------------
class OwnSpace(Space[Picks]):
    """The space of a function `make_net(pick)` or `make_net(pick, task)` that returns a network; see `own`."""

    name = "own"
    summary = "your own code: a function that calls pick(name, choices) wherever it has a choice"

    def __init__(self, make_net: Callable[..., nn.Module], *, task: Any = None, reference: str = "") -> None:
        self.make_net, self._reference = make_net, reference
        self.title = reference or getattr(make_net, "__qualname__", type(make_net).__name__)
        self._wants_task = _wants_task(make_net, self.title)
        given = task if task is None or isinstance(task, Task) else Task.from_json(task)
        self._own_task: Task | None = given if self._wants_task else None
        self._size: int | None = -1  # not counted yet

    def settings(self) -> dict[str, Any]:
        """The task that picks are asked for, where it was given and matters."""
        return {} if self._own_task is None else {"task": self._own_task.to_json()}

    @property
    def reference(self) -> str:
        """`module:function`, or `path/to/file.py:function` for a script; lambdas and local functions have none."""
        return self._reference or _find_reference(self)

    def _run(self, decide: Decide, task: Task, wanted: Iterable[str] = ()) -> tuple[nn.Module, Picks]:
        """Run the function once; `wanted` are names that must be asked."""
        pick = Pick(decide)
        try:
            network = self.make_net(pick, task) if self._wants_task else self.make_net(pick)
        except ForeseeError:
            raise
        except Exception as error:
            where = f" for inputs {'x'.join(map(str, task.inputs))}" if self._wants_task else ""
            raise InputError(f"{self.title} failed{where} with {Picks.of(pick)}: {_one_line(error)}") from error
        if not isinstance(network, nn.Module):
            raise InputError(f"{self.title} returned a {type(network).__name__}, expected a torch.nn.Module")
        for name in wanted:
            if name not in pick.asked:
                raise UnknownNameError(f"pick in the architecture of {self.title}", name, pick.asked)
        return network, Picks.of(pick)

    def _ask(self, begin: Callable[[], Decide], wanted: Iterable[str] = (), rng: random.Random | None = None) -> Picks:
        """The picks only. A run that fails on the meta device begins again on the CPU, with the same random numbers."""
        state = rng.getstate() if rng else ()

        def attempt() -> Picks:
            if rng:
                rng.setstate(state)
            return self._run(begin(), self._own_task or Task(), wanted)[1]

        return on_meta(attempt)

    def sample(self, rng: random.Random) -> Picks:
        """Run the function with every pick drawn at random."""
        return self._ask(lambda: lambda name, answers: answers.draw(rng), rng=rng)

    def mutate(self, architecture: Picks, rng: random.Random) -> Picks:
        """Change one pick; keep the others that are still asked and still allowed, draw the new ones."""
        old = architecture.values
        free = [name for name, answers in architecture.answers.items() if answers.size != 1]
        if not free:
            raise InputError(f"{self.title}: {architecture} has no pick with another answer to change to")
        changed = rng.choice(free)

        def decide(name: str, answers: Answers) -> Value:
            known = name in old and answers.holds(old[name])
            if known and name != changed:
                return old[name]
            value = answers.draw(rng)
            while known and answers.size != 1 and _same(value, old[name]):
                value = answers.draw(rng)
            return value

        return self._ask(lambda: decide, rng=rng)

    def crossover(self, first: Picks, second: Picks, rng: random.Random) -> Picks:
        """Each pick from a parent that has an allowed answer to it, drawn where neither has."""

        def decide(name: str, answers: Answers) -> Value:
            given = [parent.values[name] for parent in (first, second) if name in parent.values]
            allowed = [value for value in given if answers.holds(value)]
            return rng.choice(allowed) if allowed else answers.draw(rng)

        return self._ask(lambda: decide, rng=rng)

    def parse(self, text: str) -> Picks:
        """Read JSON such as `{"depth":3,"width":64}` and check it by running the function."""
        try:
            values = json.loads(text)
            if not isinstance(values, dict):
                raise ValueError("not an object")
        except (ValueError, RecursionError) as error:
            raise InputError(f'architecture {text!r}: {error}; expected JSON such as {{"width":64}}') from error
        return self._ask(lambda: self._replay(values), values)

    def _replay(self, values: Mapping[str, Value]) -> Decide:
        def decide(name: str, answers: Answers) -> Value:
            if name not in values or not answers.holds(values[name]):
                given = f"is {values[name]!r}" if name in values else "is missing"
                raise InputError(f"architecture of {self.title}: pick {name!r} {given}, expected {answers}")
            return values[name]

        return decide

    def enumerate(self) -> Iterator[Picks]:
        """Every architecture once, depth first in the order of asking; real numbers end it with an `InputError`."""
        path: list[int] = []  # number of the answer to each pick; the first answer from there on

        def begin() -> Decide:
            given = iter(path)
            return lambda name, answers: answers.values[next(given, 0)]

        while True:
            picks = self._ask(begin)
            yield picks
            sizes = [answers.size or 0 for answers in picks.answers.values()]
            path += [0] * (len(sizes) - len(path))
            while path and path[-1] + 1 == sizes[len(path) - 1]:
                path.pop()
            if not path:
                return
            path[-1] += 1

    @property
    def size(self) -> int | None:
        """Number of architectures where all picks can be listed and there are at most `ENUMERATION_LIMIT`."""
        if self._size == -1:
            self._size = self._count()
        return self._size

    def _count(self) -> int | None:
        try:
            first = next(self.enumerate())
            if math.prod(answers.size or 1 for answers in first.answers.values()) > ENUMERATION_LIMIT:
                return None  # a plain product is not worth running through
            count = sum(1 for _ in islice(self.enumerate(), ENUMERATION_LIMIT + 1))
        except InputError:
            return None
        return count if count <= ENUMERATION_LIMIT else None

    @property
    def enumerable(self) -> bool:
        """Whether the space is known to be finite and small."""
        return self.size is not None

    def build(self, architecture: Picks, task: Task) -> nn.Module:
        """Run the function with these picks."""
        return self._run(self._replay(architecture.values), task, architecture.values)[0]


def own(make_net: Callable[..., nn.Module], *, task: Task | Mapping[str, Any] | None = None) -> OwnSpace:
    """The space of a function `make_net(pick)` or `make_net(pick, task)` that returns a network.

    `pick(name, choices)`, `pick.integer(name, low, high)` and `pick.number(name, low, high)` may be asked anywhere in
    it, in loops and under conditions. `task` is the one a two-argument function is run for while only picks are wanted
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


def _one_line(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


# -- finding functions again ------------------------------------------------------------------------------------------
def _find_reference(space: OwnSpace) -> str:
    function = space.make_net
    name = getattr(function, "__qualname__", repr(function))
    module = sys.modules.get(getattr(function, "__module__", None) or "")
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part, None)
    main = module is not None and module.__name__ in ("__main__", "__mp_main__")
    file, spec = getattr(module, "__file__", None), getattr(module, "__spec__", None)
    if module is None or not (found is function or found is space) or (main and file is None):
        raise InputError(f"own space over {name}: only a function at the top of a module or script can be found again")
    if main and spec is not None and spec.name not in ("__main__", "__mp_main__"):  # python -m package.module
        return f"{spec.name}:{name}"
    if main or module.__name__.startswith(_FILE_MODULE):
        path, here = Path(str(file)).resolve(), Path.cwd()
        return f"{(path.relative_to(here) if path.is_relative_to(here) else path).as_posix()}:{name}"
    return f"{module.__name__}:{name}"


def load(reference: str, **settings: Any) -> OwnSpace:
    """The own space `module:function` or `path/to/file.py:function`."""
    for key in settings:
        if key != "task":
            raise UnknownNameError("setting of an own space", key, ["task"])
    found = load_object(reference)
    make_net = found.make_net if isinstance(found, OwnSpace) else found  # `own` may be used as a decorator
    return OwnSpace(make_net, reference=reference, **settings)


def load_object(reference: str) -> Any:
    """The function or class behind `module:name` or `path/to/file.py:name`; the current folder counts for modules.

    >>> load_object("math:sqrt")(9.0)
    3.0
    """
    place, _, name = reference.rpartition(":")
    if not place or not name:
        raise InputError(f"reference {reference!r}: expected module:function or path/to/file.py:function")
    found: Any = _load_file(Path(place)) if place.endswith(".py") else _load_module(place)
    for part in name.split("."):
        if not hasattr(found, part):
            public = [key for key in dir(found) if not key.startswith("_") and callable(getattr(found, key, None))]
            raise UnknownNameError(f"function of {place}", name, public)
        found = getattr(found, part)
    if not callable(found) and not isinstance(found, OwnSpace):
        raise InputError(f"{reference} is a {type(found).__name__}, expected a function or class")
    return found


def _load_module(name: str) -> ModuleType:
    _search_first(Path.cwd())
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:  # a stranger's module may raise anything
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        if not missing or not f"{name}.".startswith(f"{missing}."):
            raise InputError(f"module {name} cannot be imported: {_one_line(error)}") from error
        parent, _, last = missing.rpartition(".")
        around = getattr(sys.modules.get(parent), "__path__", None)
        near = get_close_matches(last, [one.name for one in pkgutil.iter_modules(around)], n=3)
        hint = f"did you mean {', '.join(near)}?" if near else "it is neither installed nor in the current folder"
        raise InputError(f"no module {missing!r}: {hint}") from error


def _load_file(path: Path) -> ModuleType:
    if not path.is_file():
        near = get_close_matches(path.name, [one.name for one in path.parent.glob("*.py")], n=3)
        raise InputError(f"no file {path.as_posix()!r}" + (f": did you mean {', '.join(near)}?" if near else ""))
    path, main = path.resolve(), sys.modules["__main__"]
    if Path(getattr(main, "__file__", None) or "").resolve() == path:
        return main  # the script that runs now: running it again would start over
    name = _FILE_MODULE + hashlib.blake2b(str(path).encode(), digest_size=8).hexdigest()
    if name not in sys.modules:
        spec: Any = importlib.util.spec_from_file_location(name, path)
        sys.modules[name] = importlib.util.module_from_spec(spec)
        _search_first(path.parent)  # as Python does for a script: its neighbours can be imported
        try:
            spec.loader.exec_module(sys.modules[name])
        except (Exception, SystemExit) as error:
            del sys.modules[name]
            raise InputError(f"file {path.name} cannot be imported: {_one_line(error)}") from error
    return sys.modules[name]


def _search_first(folder: Path) -> None:
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
