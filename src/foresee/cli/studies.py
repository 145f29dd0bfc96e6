"""Options of a study: a cell of an explanation trained beside its variants."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from foresee.cli.groups import Group
from foresee.errors import InputError
from foresee.runs.events import Observer

if TYPE_CHECKING:
    from foresee.insight.trained import TrainedStudy
    from foresee.scoring.settings import ScoringSettings

#: variants, epochs and seeds where only one of them is said
VARIANTS, EPOCHS, SEEDS = 12, 5, 3
#: where a study is kept, in the folder of the page
FOLDER = "study"


@dataclass
class StudyOptions(Group):
    """A cell of the DARTS space and its variants, trained alike."""

    panel = "A study: a DARTS cell trained beside its variants"
    usual: ClassVar[Mapping[str, str]] = {"variants": "no study", "train": f"{EPOCHS}ep", "rate": "0.025"}

    variants: Annotated[
        int | None, typer.Option(help="train so many variants too: connected otherwise, or with other operations")
    ] = None
    train: Annotated[str | None, typer.Option(help="how long each is trained")] = None
    rate: Annotated[list[float] | None, typer.Option(help="learning rate; may be repeated")] = None
    seeds: Annotated[int, typer.Option(help="trainings of each cell at each rate")] = SEEDS
    channels: Annotated[int, typer.Option(help="of the networks that are trained")] = 8
    layers: Annotated[int, typer.Option(help="cells of the networks that are trained")] = 5
    landscape: Annotated[
        bool,
        typer.Option("--landscape", help="look at the loss around the trained weights of cells that span the widths"),
    ] = False

    @property
    def asked(self) -> bool:
        """Whether a study is wanted at all."""
        return self.variants is not None or self.train is not None or self.landscape

    def check(self, subjects: list[dict[str, Any]]) -> None:
        """Say what is wrong before any work."""
        from foresee.spaces.darts.space import DARTS

        if not self.asked:
            return
        epochs_of(self.train)
        what = subjects[0]["what"]
        if len(subjects) != 1 or not (isinstance(what, tuple) and isinstance(what[0], DARTS)):
            raise InputError(
                "--variants: a study is of one cell of the darts space, such as: darts DARTS_V2 --variants 12"
            )

    def run(self, what: tuple[Any, Any], settings: ScoringSettings, out: Path, observer: Observer) -> TrainedStudy:
        """The study of `(space, architecture)`, kept in the folder of the page."""
        from foresee.data import load
        from foresee.insight.around import Looks
        from foresee.insight.trained import RATES, study
        from foresee.task import Task

        space, said = what
        named = isinstance(said, str) and said in space.named
        architecture = space.find(said) if isinstance(said, str) else said
        task = load(settings.data).task
        if settings.inputs is not None or settings.outputs is not None:
            task = Task(settings.inputs or task.inputs, settings.outputs or task.outputs)
        return study(
            architecture,
            settings.data,
            name=said if named else "cell",
            variants=self.variants if self.variants is not None else VARIANTS,
            epochs=epochs_of(self.train),
            rates=tuple(self.rate or RATES[:1]),
            seeds=self.seeds,
            seed=settings.seed,
            task=task,
            size={"channels": self.channels, "layers": self.layers},
            device=settings.device,
            looks=Looks() if self.landscape else None,
            out=out / FOLDER,
            observers=[observer],
        )


def epochs_of(text: str | None) -> int:
    """How many epochs a person means.

    >>> epochs_of("5ep"), epochs_of("12"), epochs_of(None)
    (5, 12, 5)
    """
    found = re.fullmatch(r"([1-9][0-9]{0,5}) ?(ep|epochs?)?", "5ep" if text is None else text.strip())
    if found is None:
        raise InputError(f"--train {text}: expected how many epochs, such as 5ep")
    return int(found[1])
