"""The memory of what happened: stores, events, engines. The ground floor: it knows nothing of what is built on it."""

from foresee.runs.engines import Engine, Outcome, Processes, Serial
from foresee.runs.environment import environment
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
