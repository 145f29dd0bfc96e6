"""Where jobs are done: one engine per file, all with equal results."""

from foresee.runs.engines.base import ATTEMPTS, ENGINES, Engine, Outcome, Processes, Serial, Work, make

__all__ = ["ATTEMPTS", "ENGINES", "Engine", "Outcome", "Processes", "Serial", "Work", "make"]
