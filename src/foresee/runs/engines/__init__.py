"""Where jobs are done: one engine per file, all with equal results."""

from foresee.runs.engines.base import ATTEMPTS, Engine, Outcome, Work, engines, make
from foresee.runs.engines.processes import Processes, get_ready
from foresee.runs.engines.serial import Serial

__all__ = ["ATTEMPTS", "Engine", "Outcome", "Processes", "Serial", "Work", "engines", "get_ready", "make"]
