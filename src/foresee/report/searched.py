"""`fs.search`: the search of the room of searchers, with a report in the folder of the run, as the command writes it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import ParamSpec

from foresee.errors import ForeseeError, SearchError
from foresee.report.html import write
from foresee.searchers.run import Run
from foresee.searchers.search import search as find

P = ParamSpec("P")


def reported(searching: Callable[P, Run]) -> Callable[P, Run]:
    """The same, writing `report.html` beside every run that is kept; also where it was interrupted or given up."""

    @wraps(searching)
    def wrapped(*args: P.args, **given: P.kwargs) -> Run:
        try:
            run = searching(*args, **given)
        except (KeyboardInterrupt, SearchError):
            with suppress(ForeseeError):  # what ended the run is worth more than why it has no report
                if (out := given.get("out")) is not None:
                    write(str(out))
            raise
        if run.folder is not None:
            write(run.folder, run.record, run.made_space)
        return run

    return wrapped


search = reported(find)
