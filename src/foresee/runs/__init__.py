"""The memory of what happened: stores, events, engines. The ground floor: it knows nothing of what is built on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foresee.lazy import lazily
from foresee.runs.environment import environment

#: public name -> where it lives; imported on first use, so that events can be watched without loading what stores need
_HOMES = {
    "Announcer": "foresee.runs.events",
    "CandidateRow": "foresee.runs.record",
    "Engine": "foresee.runs.engines",
    "Event": "foresee.runs.events",
    "EventRow": "foresee.runs.record",
    "Objective": "foresee.runs.record",
    "Observer": "foresee.runs.events",
    "Outcome": "foresee.runs.engines",
    "Processes": "foresee.runs.engines",
    "Record": "foresee.runs.record",
    "RunFolder": "foresee.runs.folder",
    "ScoreRow": "foresee.runs.record",
    "Serial": "foresee.runs.engines",
    "StepRow": "foresee.runs.record",
    "Store": "foresee.runs.store",
    "read": "foresee.runs.folder",
    "write_whole": "foresee.runs.folder",
}

if TYPE_CHECKING:
    from foresee.runs.engines import Engine, Outcome, Processes, Serial
    from foresee.runs.events import Announcer, Event, Observer
    from foresee.runs.folder import RunFolder, read, write_whole
    from foresee.runs.record import CandidateRow, EventRow, Objective, Record, ScoreRow, StepRow
    from foresee.runs.store import Store

__all__ = [
    "Announcer",
    "CandidateRow",
    "Engine",
    "Event",
    "EventRow",
    "Objective",
    "Observer",
    "Outcome",
    "Processes",
    "Record",
    "RunFolder",
    "ScoreRow",
    "Serial",
    "StepRow",
    "Store",
    "environment",
    "read",
    "write_whole",
]

__getattr__, __dir__ = lazily(__name__, {**_HOMES, "environment": "foresee.runs.environment"})
