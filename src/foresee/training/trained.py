"""What a training gives: the network at its best, how it came about, how good it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torch import nn

from foresee.lazy import find
from foresee.quantities import format_seconds
from foresee.spaces.candidate import Candidate
from foresee.task import Task
from foresee.training.evaluations import Evaluation
from foresee.training.recipe import Recipe

if TYPE_CHECKING:
    from foresee.data.clicks.preprocessing import Preprocessing


@dataclass(frozen=True)
class Epoch:
    """One pass over the training data; accuracies are None in a regression, validation's where there is none.

    Of augmented, mixed or dropped samples the training's loss and accuracy are what was seen, with all that was added to it.
    """

    number: int
    loss: float
    accuracy: float | None
    val_loss: float | None
    val_accuracy: float | None
    rate: float
    seconds: float
    val_auc: float | None = None

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Epoch:
        """From plain values, others left out; trainings of before knew no AUC."""
        known = {"val_auc": None, **plain}
        return cls(**{one.name: known[one.name] for one in fields(cls)})


@dataclass(frozen=True, eq=False)
class Trained:
    """A network that was trained.

    Args:
        network: at its best epoch by validation (without validation: at the last), in evaluation mode.
        recipe: all values.
        history: one entry for each epoch.
        best_epoch: number of the best, from 1; 0 where no epoch made better what a part had learnt before (`first_order`).
        validation: the best epoch's evaluation, or None.
        test: of the best epoch on test data, or None.
        seed: of all draws.
        data: what was learnt from, as plain values.
        classes: the names of the classes, where they have some.
        facts: whatever else was noted: parameters, device, versions.
        folder: where it is kept, or None.
        candidate: the architecture as it was built, where the network came from one.
        task: what goes in and out, where that is known.
        preprocessing: what encoded the rows of a click log, and encodes others alike; None where it was none.
    """

    network: nn.Module = field(repr=False)
    recipe: Recipe
    history: tuple[Epoch, ...]
    best_epoch: int
    validation: Evaluation | None = None
    test: Evaluation | None = None
    seed: int = 0
    data: Mapping[str, Any] = field(default_factory=dict)
    classes: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    folder: Path | None = None
    candidate: Candidate | None = None
    task: Task | None = None
    preprocessing: Preprocessing | None = field(default=None, repr=False)

    @property
    def seconds(self) -> float:
        """Time spent, validation included."""
        return sum(epoch.seconds for epoch in self.history)

    @property
    def judged(self) -> Evaluation | None:
        """The evaluation that counts: on test data, else on validation's."""
        return self.test or self.validation

    @property
    def accuracy(self) -> float | None:
        """On test data, else on validation's; None in a regression, or where nothing was kept to judge by."""
        return None if self.judged is None else self.judged.accuracy

    def to_json(self) -> dict[str, Any]:
        """All but the weights, as plain values: what `training.json` holds."""
        return {
            "recipe": self.recipe.to_json(),
            "seed": self.seed,
            "data": dict(self.data),
            "classes": list(self.classes),
            "facts": dict(self.facts),
            "best_epoch": self.best_epoch,
            "validation": None if self.validation is None else self.validation.to_json(),
            "test": None if self.test is None else self.test.to_json(),
            "history": [asdict(epoch) for epoch in self.history],
        }

    @classmethod
    def from_json(cls, plain: Mapping[str, Any], network: nn.Module, folder: Path | None = None) -> Trained:
        """Inverse of `to_json`, with the network whose weights belong to it."""
        judged: dict[str, Any] = {
            key: plain.get(key) and Evaluation.from_json(plain[key]) for key in ("validation", "test")
        }
        return cls(
            network=network,
            recipe=Recipe.from_json(plain["recipe"], where="training.json"),
            history=tuple(Epoch.from_json(one) for one in plain["history"]),
            best_epoch=plain["best_epoch"],
            seed=plain["seed"],
            data=plain["data"],
            classes=tuple(plain["classes"]),
            facts=plain["facts"],
            folder=folder,
            **judged,
        )

    def save_report(self, path: str | Path) -> Path:
        """Write one self-contained HTML page: curves, confusion, calibration, settings beside the paper's."""
        written: Path = find("foresee.report.training", "save")(self, path)
        return written

    @property
    def best_place(self) -> int:
        """Where the best epoch is in the history; the first where none made better what was there before it."""
        return max(self.best_epoch - 1, 0)

    def __repr__(self) -> str:
        best = f"best epoch {self.best_epoch} of {len(self.history)}"
        parts = [f"{name}: {one}" for name, one in (("validation", self.validation), ("test", self.test)) if one]
        return f"<Trained by {self.recipe.name or 'a recipe'}, {best}, {'; '.join([*parts, format_seconds(self.seconds)])}>"
