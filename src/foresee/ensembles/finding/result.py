"""What comes of finding an ensemble: its members trained, measured, with what was spent; also read from a folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from torch import Tensor, from_numpy

from foresee.data.normalising import Statistics
from foresee.ensembles.ensemble import Ensemble
from foresee.ensembles.finding.parts import Parts, parts_of
from foresee.ensembles.finding.settings import EnsembleSettings
from foresee.ensembles.finding.shelf import Shelf
from foresee.ensembles.measures import Measures
from foresee.errors import RunError
from foresee.grid import Column, Grid, Shown, shortened
from foresee.quantities import format_seconds
from foresee.spaces.find import Said
from foresee.task import Task

SETTINGS, SELECTED, MEASURES, PREDICTIONS = "settings.json", "selected.json", "measures.json", "predictions.npz"
#: folders of the members' trainings
MEMBERS = "members"


@dataclass(frozen=True, eq=False)
class EnsembleRun(Shown):
    """An ensemble that was found, trained and measured.

    Args:
        settings: what was asked.
        architectures: the members', as texts.
        measures: on `val` and `test`; `estimated`: on validation data by inherited weights, before any member was trained
            (absent where there was no supernet).
        budget: `networks` trained and their `epochs`, `supernet_epochs`, `posterior_epochs`, `evaluations` by inherited
            weights, `scores` by a proxy, `seconds` by stage; what is shared with other samplers counts for each.
        selected: how the members were chosen, as `selected.json` says it.
        task: what goes in and out.
        statistics: what images were normalised by; None where they were not.
        data: the parts of the data in words.
        folder: where all of it is kept; None where it is not.
    """

    settings: EnsembleSettings
    architectures: tuple[str, ...]
    measures: Mapping[str, Measures]
    budget: Mapping[str, Any]
    selected: Mapping[str, Any] = field(repr=False)
    task: Task
    statistics: Statistics | None
    data: Mapping[str, Any] = field(repr=False)
    folder: Path | None = None
    held: Mapping[str, Any] = field(default_factory=dict, repr=False)

    # -- what it predicts ---------------------------------------------------------------------------------------------
    @cached_property
    def ensemble(self) -> Ensemble:
        """The members as one `nn.Module`, evaluating, on the CPU where it is read from a folder."""
        if "ensemble" in self.held:
            found: Ensemble = self.held["ensemble"]
            return found
        assert self.folder is not None
        return Ensemble.load(self.folder, space=self.held.get("space"))

    @cached_property
    def _arrays(self) -> Mapping[str, Any]:
        if "probabilities" in self.held:
            return self.held
        arrays = Shelf(self.folder).read_arrays(PREDICTIONS)
        if arrays is None:
            raise RunError(f"{self.folder}: {PREDICTIONS} is missing; run the ensemble again to have it made")
        return {key: from_numpy(one) for key, one in arrays.items()}

    @property
    def probabilities(self) -> Tensor:
        """Of each member on the test data, (members, samples, classes)."""
        found: Tensor = self._arrays["probabilities"]
        return found

    @property
    def labels(self) -> Tensor:
        """Of the test data, (samples,)."""
        found: Tensor = self._arrays["labels"]
        return found

    def parts(self, data: Any, *, val: Any = None, test: Any = None) -> Parts:
        """The parts that the ensemble was found on, of the same data; other data is refused."""
        said = self.settings
        shares: dict[str, Any] = {"share": said.validation, "test_share": said.test, "seed": said.seed}
        found = parts_of(data, val=val, test=test, inputs=said.inputs, **shares)
        if found.words != self.data:
            raise RunError(f"{found.train.name} is not the data that the ensemble was found on (another fingerprint)")
        return found

    # -- read again ---------------------------------------------------------------------------------------------------
    @classmethod
    def load(cls, folder: str | Path, *, space: Said | None = None) -> EnsembleRun:
        """What was kept in a folder; one that is not finished is said.

        Args:
            folder: where.
            space: the code of an own space, for its networks (`ensemble`): a file is not followed to code.
        """
        shelf = Shelf(folder)
        asked, selected, measured = (shelf.read(name) for name in (SETTINGS, SELECTED, MEASURES))
        if asked is None:
            raise RunError(f"{folder}: there is no ensemble here ({SETTINGS} is missing)")
        if selected is None or measured is None:
            what = "its members are not chosen" if selected is None else "its members are not all trained"
            raise RunError(f"{folder}: the ensemble is not finished, {what}; run it again to go on with it")
        try:
            settings = EnsembleSettings.from_json(asked["settings"], where=SETTINGS)
            known = {key: measured[key] for key in ("val", "test", "estimated") if measured.get(key)}
            measures = {key: Measures(**{**one, "members": tuple(one["members"])}) for key, one in known.items()}
            said = asked["normalised by"]
            return cls(
                settings,
                tuple(selected["architectures"]),
                measures,
                measured["budget"],
                selected,
                Task.from_json(asked["task"]),
                None if said is None else Statistics(tuple(said["mean"]), tuple(said["std"])),
                asked["data"],
                Path(folder),
                {} if space is None else {"space": space},
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise RunError(f"{folder}: not as an ensemble leaves it ({error} is wrong or missing)") from error

    # -- shown --------------------------------------------------------------------------------------------------------
    def _grid(self) -> Grid:
        columns = [Column("", words=True), *map(Column, ("val error", "test error"))]
        val, test = self.measures["val"], self.measures["test"]
        cells = list(self.architectures) + ["the same, dropping paths"] * (len(test.members) - len(self.architectures))
        rows = [
            [f"{place} {shortened(text, 60)}", _percent(one), _percent(other)]
            for place, (text, one, other) in enumerate(zip(cells, val.members, test.members, strict=True))
        ]
        rows.append(["ensemble", _percent(val.error), _percent(test.error)])
        spent = self.budget
        notes = [
            f"mean of members {_percent(test.ate)}, disagreement {_percent(test.ppd)}, nll {test.nll:.4f}, "
            f"calibration error {test.calibration_error:.4f} (test, {test.samples:,} samples)",
            f"budget: {spent['networks']} networks of {spent['epochs']} epochs in all, "
            f"{spent['supernet_epochs']} epochs of a supernet, {spent['evaluations']} looks by inherited weights, "
            f"{spent['scores']} by a proxy; {format_seconds(sum(spent['seconds'].values()))}",
        ]
        title = f"{self.settings.sampler}, {self.settings.space}, seed {self.settings.seed}"
        return Grid(columns, rows, title=title, notes=notes)

    def __str__(self) -> str:
        return str(self._grid())


def _percent(share: float) -> str:
    return f"{100 * share:.2f} %"
