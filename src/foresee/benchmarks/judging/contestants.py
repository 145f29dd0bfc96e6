"""Who is judged: recommenders by name, architectures of files and run folders, architectures by their text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import nn

from foresee.errors import InputError, UnknownNameError
from foresee.recommenders import Handmade, recommenders
from foresee.registry import tidy
from foresee.spaces.base import spaces
from foresee.spaces.candidate import Candidate, in_folder
from foresee.spaces.find import get
from foresee.task import Task

#: an architecture waits for its task: that of the rows it is judged on
ANY = Task((1,), 1, vocabularies=(1,))
#: what a label may be made of: it names a folder
_LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._+-]{0,79}")


@dataclass(frozen=True)
class Contestant:
    """One that is judged: a label, and what is trained (`what`, as it travels in JSON)."""

    label: str
    made: Candidate | Handmade

    @property
    def what(self) -> dict[str, Any]:
        """Plain values that say which network it is, whatever the task: equal ones are one contestant."""
        made = self.made
        plain = made.to_json() if isinstance(made, Handmade) else made.space.to_json(made.architecture, ANY)
        said: dict[str, Any] = json.loads(json.dumps({key: value for key, value in plain.items() if key != "task"}))
        return said  # as it is read again: with lists for tuples

    @property
    def fitted(self) -> bool:
        """Whether it is fitted whole instead of trained."""
        return isinstance(self.made, Handmade) and self.made.fitted

    def trainable(self, task: Task) -> Candidate | Handmade:
        """What `train` takes for this task."""
        if isinstance(self.made, Handmade):
            return self.made
        return Candidate(self.made.space, self.made.architecture, task, {})

    @classmethod
    def from_json(cls, label: str, what: Mapping[str, Any]) -> Contestant:
        """From a label and its `what`."""
        if "recommender" in what:
            return cls(label, Handmade.from_json(what))
        return cls(label, Candidate.from_json({**what, "task": ANY.to_json()}, where=f"contestant {label}"))


def contestants_of(
    texts: Iterable[str | Path | Candidate | Handmade], settings: Mapping[str, Mapping[str, Any]] | None = None
) -> tuple[Contestant, ...]:
    """Contestants by their texts, in order, each under a label of its own.

    A text is a recommender's name (`deepfm`), the path of a `best.json`, a run's or a training's folder, or a space with an
    architecture or the name of one (`nasrec_small Criteo_Small_best`); `label=text` names it. `settings` are those of
    recommenders, by name.

    >>> [one.label for one in contestants_of(["logistic", "small=nasrec_small Criteo_Small_best"])]
    ['logistic', 'small']
    """
    found: dict[str, Contestant] = {}
    known = {tidy(name): dict(values) for name, values in (settings or {}).items()}
    for given in texts:
        one = _contestant(given, known)
        if one.label in found and found[one.label].what == one.what:
            raise InputError(f"judge: {one.label} is named twice")
        label, count = one.label, 2
        while label in found:
            label, count = f"{one.label} {count}", count + 1
        found[label] = Contestant(label, one.made)
    if not found:
        raise InputError(
            "judge: name who is judged: a recommender, a best.json, a run's folder, or a space's architecture"
        )
    for name in known:
        if not any(isinstance(one.made, Handmade) and tidy(one.made.name) == name for one in found.values()):
            raise UnknownNameError("recommender with settings", name, [one.label for one in found.values()])
    return tuple(found.values())


def _contestant(given: str | Path | Candidate | Handmade, settings: Mapping[str, Mapping[str, Any]]) -> Contestant:
    if isinstance(given, Handmade):
        return Contestant(given.name, given)
    if isinstance(given, Candidate):
        return Contestant(given.space.name, given)
    label, text = _labelled(str(given))
    if text in recommenders and not Path(text).exists():
        return Contestant(label or tidy(text), Handmade(tidy(text), settings.get(tidy(text), {})))
    space, _, architecture = text.strip().partition(" ")
    if architecture and space in spaces:
        made = get(space)
        chosen = made.named.get(architecture.strip()) or made.parse(architecture)
        short = tidy(architecture) if architecture.strip() in made.named else made.name
        return Contestant(label or short, Candidate(made, chosen, ANY))
    path = Path(text)
    if not path.exists():
        raise UnknownNameError("contestant (and no such file)", text, recommenders.names())
    written = in_folder(path)
    if written.name == "architecture.json":
        from foresee.training.keeping import read_plain

        plain = read_plain(written)
        if "recommender" in plain:
            return Contestant(label or str(plain["recommender"]), Handmade.from_json(plain))
    named = path.resolve().parent.name if path.is_file() else path.resolve().name
    return Contestant(label or (named if _LABEL.fullmatch(named) else "found"), Candidate.load(written))


def _labelled(text: str) -> tuple[str, str]:
    """The label before `=`, or "", and the rest."""
    label, sign, rest = text.partition("=")
    if not sign or not _LABEL.fullmatch(label) or Path(text).exists():
        return "", text
    return label, rest


def network_of(contestant: Contestant, task: Task, seed: int) -> nn.Module:
    """The network of a contestant that is trained step by step, for counting and drawing."""
    made = contestant.trainable(task)
    return made.build(task, seed) if isinstance(made, Handmade) else made.build(seed)
