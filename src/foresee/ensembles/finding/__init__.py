"""From a space and data to an ensemble: supernet, posterior, selection, members trained, measured; and all rivals alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foresee.lazy import lazily

#: public name -> where it lives; imported on first use
_HOMES = {
    "EnsembleRun": "foresee.ensembles.finding.result",
    "EnsembleSettings": "foresee.ensembles.finding.settings",
    "choose": "foresee.ensembles.finding.run",
    "ensemble": "foresee.ensembles.finding.run",
    "train_member": "foresee.ensembles.finding.run",
}

if TYPE_CHECKING:
    from foresee.ensembles.finding.result import EnsembleRun
    from foresee.ensembles.finding.run import choose, ensemble, train_member
    from foresee.ensembles.finding.settings import EnsembleSettings

__all__ = ["EnsembleRun", "EnsembleSettings", "choose", "ensemble", "train_member"]

__getattr__, __dir__ = lazily(__name__, _HOMES)
