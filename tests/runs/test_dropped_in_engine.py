"""A new engine is one new file: in a copy of the package it is found without editing anything else."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import foresee

ENGINE = '''
    """Backwards, in this process."""

    from __future__ import annotations

    from typing import Any

    from foresee.runs.engines.base import Engine, Outcome, Work, attempt, engines


    @engines.register("new")
    class New(Engine):
        """The last job first."""

        summary = "in this process, the last job first"

        def __init__(self, work: Work, workers: int | None = None) -> None:
            self._work, self._jobs = work, []

        def submit(self, job: int, payload: Any) -> None:
            self._jobs.append((job, payload))

        def wait(self) -> Outcome:
            return attempt(self._work, *self._jobs.pop())

        def __exit__(self, *_: object) -> None:
            self._jobs.clear()
'''
USE = """
    import json, sys
    import foresee.runs.engines as engines
    from foresee.errors import UnknownNameError

    with engines.make("new", abs, 3) as engine:
        for job in range(3):
            engine.submit(job, -10 * job)
        found = [(one.job, one.value) for one in (engine.wait() for _ in range(3))]
    try:
        engines.make("neww", abs)
    except UnknownNameError as error:
        nearest = str(error)
    listed = {name: engines.engines[name].summary for name in engines.engines}
    print(json.dumps([engines.__file__, found, nearest, listed, "torch" in sys.modules]))
"""


def test_a_dropped_in_engine_is_found(tmp_path):
    package = shutil.copytree(
        Path(foresee.__file__).parent, tmp_path / "foresee", ignore=shutil.ignore_patterns("__pycache__")
    )
    (Path(package) / "runs" / "engines" / "new.py").write_text(textwrap.dedent(ENGINE))
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(USE)],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    where, found, nearest, listed, torch = json.loads(done.stdout)
    assert Path(where).is_relative_to(tmp_path)
    assert found == [[2, 20], [1, 10], [0, 0]]
    assert nearest == "unknown engine 'neww': did you mean new?"
    assert listed["new"] == "in this process, the last job first"
    assert {"serial", "processes"} < set(listed)
    assert not torch
