"""The report of a training: its curves, what is taken for what, whether it knows how sure to be, and the paper's settings.

Plain values first (`tell`), then one self-contained page (`render`), with the look and the script of the other reports.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec

from foresee.errors import ForeseeError, RunError
from foresee.quantities import format_quantity, format_seconds
from foresee.report.asked import flatten
from foresee.report.figures import Chart, Layer, Scale
from foresee.report.html import Drawing, drawing
from foresee.report.page import page
from foresee.runs.folder import write_whole
from foresee.training.evaluations import Bin, Evaluation
from foresee.training.keeping import REPORT, TRAINING, read_plain
from foresee.training.loop import train as train_quietly
from foresee.training.recipe import about
from foresee.training.trained import Epoch, Trained

P = ParamSpec("P")

#: classes of a matrix that is shown whole; of more, the pairs that are taken for each other most often
WHOLE, PAIRS = 25, 12


@dataclass(frozen=True)
class Value:
    """A value of the recipe: here, and in the recipe that it began as (None where there is none of that name)."""

    name: str
    here: str
    there: str | None

    @property
    def differs(self) -> bool:
        """Whether the paper's is another."""
        return self.there is not None and self.here != self.there


@dataclass(frozen=True)
class TrainingInfo:
    """All that the page says; `judged_on` is test or validation, whichever the evaluation shown is of."""

    title: str
    headline: str
    lead: str
    facts: tuple[tuple[str, str], ...]
    judged: Evaluation | None
    judged_on: str
    names: tuple[str, ...]
    pairs: tuple[tuple[str, str, int, float], ...]
    values: tuple[Value, ...]
    paper: str
    section: str
    differs: str
    environment: tuple[tuple[str, str], ...]
    settings: tuple[tuple[str, str], ...]

    @property
    def matrix(self) -> tuple[tuple[int, ...], ...]:
        """Rows of the confusion matrix where it is shown whole, else none."""
        found = None if self.judged is None else self.judged.confusion
        return found if found is not None and len(found) <= WHOLE else ()


def tell(trained: Trained) -> TrainingInfo:
    """The plain values of the page."""
    judged = trained.judged
    on = "test" if trained.test is not None else "validation"
    name = trained.recipe.name
    described = None
    if name:
        try:
            described = about(name)
        except ForeseeError:  # a recipe of a file that is not here
            described = None
    classes = len(judged.confusion) if judged is not None and judged.confusion is not None else 0
    names = tuple(trained.classes[place] if place < len(trained.classes) else str(place) for place in range(classes))
    best = trained.history[trained.best_place]
    parts = {key: f"{one.get('name', key)}, {_samples(one)}" for key, one in trained.data.items()}
    return TrainingInfo(
        title=f"trained by {name or 'a recipe'}",
        headline=_headline(judged, on),
        lead=f"{_lead(trained, best)}.",
        facts=(
            ("Recipe", name or "of your own"),
            *((key.capitalize(), text) for key, text in parts.items()),
            ("Parameters", format_quantity(trained.facts.get("parameters", 0))),
            ("Epochs", f"{len(trained.history)}, the best is {trained.best_epoch}"),
            *_answered(judged),
            ("Time", f"{format_seconds(trained.seconds)} on {trained.facts.get('device', 'cpu')}"),
            ("Seed", str(trained.seed)),
        ),
        judged=judged,
        judged_on=on,
        names=names,
        pairs=confused_pairs(judged, names),
        values=_values(trained, None if described is None else described.recipe.to_json()),
        paper="" if described is None else described.paper,
        section="" if described is None else described.section,
        differs="" if described is None else described.differs,
        environment=flatten({key: value for key, value in trained.facts.items() if value is not None}),
        settings=flatten({"seed": trained.seed, "data": trained.data}),
    )


def _answered(judged: Evaluation | None) -> list[tuple[str, str]]:
    """What else is known of yes or no."""
    if judged is None or not judged.yes_or_no:
        return []
    right = [] if judged.accuracy is None else [("Right", f"{100 * judged.accuracy:.2f} %")]
    off = [] if judged.calibration_error is None else [("Calibration error", f"{judged.calibration_error:.4f}")]
    return right + off


def _headline(judged: Evaluation | None, on: str) -> str:
    if judged is None:
        return "Trained, with nothing kept to judge it by"
    if judged.yes_or_no:
        apart = "" if judged.auc is None else f"an AUC of {judged.auc:.4f} and "
        return f"{apart}a log loss of {judged.loss:.4f} on {on} data".capitalize().replace("auc", "AUC")
    if judged.accuracy is None:
        return f"A squared error of {judged.loss:.4g} on {on} data"
    return f"{100 * judged.accuracy:.2f} % right on {on} data"


def _lead(trained: Trained, best: Epoch) -> str:
    which = f"Epoch {trained.best_epoch} of {len(trained.history)} was the best"
    words = [which if trained.best_epoch else "No epoch was better than the part of first order alone"]
    chosen, judged = trained.validation, trained.judged
    if trained.test is not None and chosen is not None and chosen.yes_or_no:
        words.append(f"with {chosen} on validation data, by whose loss it was chosen")
    elif trained.test is not None and chosen is not None and chosen.accuracy is not None:
        words.append(f"with {100 * chosen.accuracy:.2f} % right on validation data, by which it was chosen")
    if judged is not None and judged.predicted is not None and judged.observed is not None:
        words.append(f"it predicts yes in {100 * judged.predicted:.2f} % where {100 * judged.observed:.2f} % are")
    elif judged is not None and judged.calibration_error is not None:
        words.append(f"its confidence is off by {100 * judged.calibration_error:.1f} points on average")
    return "; ".join([*words, f"its training loss is {best.loss:.4g}"])


def _samples(one: Any) -> str:
    return f"{one['samples']:,} samples" if "samples" in one else f"{one.get('batches', 0):,} batches an epoch"


def _values(trained: Trained, theirs: dict[str, Any] | None) -> tuple[Value, ...]:
    ours = trained.recipe.to_json()
    keys = [key for key in {**ours, **(theirs or {})} if key != "name"]
    return tuple(Value(key, _shown(ours.get(key)), None if theirs is None else _shown(theirs.get(key))) for key in keys)


def _shown(value: Any) -> str:
    if value is None:
        return "as the space says"
    return value if isinstance(value, str) and value else json.dumps(value)


def confused_pairs(judged: Evaluation | None, names: Sequence[str]) -> tuple[tuple[str, str, int, float], ...]:
    """Class, what it is taken for, how often, and which share of the class that is; the most frequent first.

    >>> confused_pairs(Evaluation(4, 0.1, 0.75, ((3, 1), (0, 0))), ["cat", "dog"])
    (('cat', 'dog', 1, 0.25),)
    """
    if judged is None or judged.confusion is None:
        return ()
    wrong = [
        (names[row], names[column], count, count / sum(counts))
        for row, counts in enumerate(judged.confusion)
        for column, count in enumerate(counts)
        if row != column and count
    ]
    return tuple(sorted(wrong, key=lambda one: -one[2])[:PAIRS])


# -- figures --------------------------------------------------------------------------------------------------------------
def curves(trained: Trained) -> list[Drawing]:
    """Loss, accuracy and rate by epoch."""
    history = trained.history
    epochs = tuple(float(one.number) for one in history)
    best = trained.best_place
    made = [_curve("Loss", [(one.loss, one.val_loss) for one in history], epochs, best, percent=False)]
    areas = [one.val_auc for one in history]
    if any(one is not None for one in areas):
        made.append(_areas([0.5 if one is None else one for one in areas], epochs, best))
    elif history[0].accuracy is not None:
        pairs = [(one.accuracy or 0.0, one.val_accuracy) for one in history]
        made.append(_curve("Accuracy", pairs, epochs, best, percent=True))
    rates = tuple(one.rate for one in history)
    words = f"learning rate at the end of each epoch, from {rates[0]:.3g} to {rates[-1]:.3g}"
    layers = (Layer("straight", "best", epochs, rates, "rate"),)
    made.append(drawing("Learning rate", Chart("rate", words, "epoch", "learning rate", "whole", layers, Scale())))
    return made


def _curve(
    what: str, pairs: Sequence[tuple[float, float | None]], epochs: tuple[float, ...], best: int, *, percent: bool
) -> Drawing:
    factor = 100.0 if percent else 1.0
    ours = tuple(factor * one for one, _ in pairs)
    layers = [Layer("straight", "series-0", epochs, ours, "training")]
    words = f"{what.lower()} by epoch: in training from {ours[0]:.4g} to {ours[-1]:.4g}"
    theirs = tuple(factor * one for _, one in pairs if one is not None)
    if theirs:
        layers.append(Layer("straight", "series-1", epochs, theirs, "validation"))
        layers.append(Layer("ring", "series-1", (epochs[best],), (theirs[best],), "best epoch"))
        words += f", in validation from {theirs[0]:.4g} to {theirs[-1]:.4g}"
    label = f"{what.lower()} in %" if percent else what.lower()
    note = "" if not percent else "Training's is of augmented samples, while the weights were still changing."
    return drawing(what, Chart(what.lower(), words, "epoch", label, "whole", tuple(layers), Scale()), note)


def _areas(values: Sequence[float], epochs: tuple[float, ...], best: int) -> Drawing:
    layers = (
        Layer("straight", "series-1", epochs, tuple(values), "validation"),
        Layer("ring", "series-1", (epochs[best],), (values[best],), "best epoch"),
    )
    words = f"AUC on validation data by epoch, from {values[0]:.4f} to {values[-1]:.4f}"
    return drawing("AUC", Chart("auc", words, "epoch", "AUC", "whole", layers, Scale()))


def reliability(bins: Sequence[Bin], error: float | None, *, answers: bool = False) -> Drawing:
    """How often predictions of each confidence are right; on the diagonal a network knows how sure to be.

    Of `answers`, how often predictions of each probability of yes come true.
    """
    there = [one for one in bins if one.count]
    sure = tuple(100 * one.confidence for one in there)
    right = tuple(100 * one.accuracy for one in there)
    ids = tuple(f"bin-{place}" for place, one in enumerate(bins) if one.count)
    layers = (
        Layer("straight", "muted", (0.0, 100.0), (0.0, 100.0), "as sure as right"),
        Layer("bars", "front", sure, right, "gap", (), sure),
        Layer("dots", "best", sure, right, "predictions", ids),
    )
    across, up = ("predicted yes in %", "observed yes in %") if answers else ("confidence in %", "right in %")
    what = "observed rate against predicted" if answers else "share that is right against confidence"
    words = f"{what}, in {len(there)} bins"
    note = "" if error is None else f"Mean gap, by how many predictions there are: {100 * error:.2f} points."
    chart = Chart("reliability", words, across, up, "plain", layers, Scale(low=0, high=102))
    return drawing("Calibration", chart, note)


# -- the page -------------------------------------------------------------------------------------------------------------
def render(trained: Trained) -> str:
    """The report as HTML text."""
    info = tell(trained)
    bins = () if info.judged is None else info.judged.calibration
    error = None if info.judged is None else info.judged.calibration_error
    answers = info.judged is not None and info.judged.yes_or_no
    sure, right = ("yes predicted", "observed") if answers else ("sure", "right")
    hover = {
        f"bin-{place}": [
            f"{one.count:,} predictions",
            f"{100 * one.confidence:.1f} % {sure}, {100 * one.accuracy:.1f} % {right}",
        ]
        for place, one in enumerate(bins)
        if one.count
    }
    return page(
        "training.html",
        title=info.title,
        info=info,
        curves=curves(trained),
        calibration=[reliability(bins, error, answers=answers)] if hover else [],
        hover=hover,
    )


def save(trained: Trained, path: str | Path) -> Path:
    """Write the page, whole or not at all."""
    return write_whole(Path(path), render(trained))


def reported(training: Callable[P, Trained]) -> Callable[P, Trained]:
    """The same, writing `report.html` beside every training that is kept."""

    @wraps(training)
    def wrapped(*args: P.args, **given: P.kwargs) -> Trained:
        trained = training(*args, **given)
        if trained.folder is not None:
            save(trained, trained.folder / REPORT)
        return trained

    return wrapped


train = reported(train_quietly)


def opened(folder: Path) -> Trained:
    """A finished training as it is stored, for its page: without its weights."""
    from torch import nn

    plain = read_plain(folder / TRAINING)
    if plain.get("status") != "finished":
        raise RunError(f"{folder}: the training is not finished; resume it, and its report is written at the end")
    try:
        return Trained.from_json(plain, nn.Identity(), folder)
    except (KeyError, TypeError, AttributeError) as error:
        raise RunError(f"{folder / TRAINING}: not as a training leaves it ({error})") from error
