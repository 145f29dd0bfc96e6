"""`foresee defend` under SIGKILL: before and after what it keeps; started again, it ends as if it had never been stopped."""

from __future__ import annotations

import json

import pytest
from tests.ensembles.defending.trained import ensembled, trained
from tests.killing import run_script

from foresee.ensembles.defending.withstood import DEFENCE

#: dies when so many files were written whole; "before": when the next one would be, so that what it holds is lost
SCRIPT = """
import os, sys
import foresee.cli.commands.defend
from foresee.cli.app import app
from foresee.ensembles.defending import kept, run
from tests.killing import at_moments, die, whole

def defend(out, moment=None):
    run.QUERIES, run.LOOKED_AT = 5, 10
    done, plain = 0, kept.write_whole

    def write(*given):
        nonlocal done
        if moment == ["before", done]:
            die()
        plain(*given)
        done += 1
        if moment == ["after", done]:
            die()

    kept.write_whole = write
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    app(["defend", "e", "--attacks", "fgsm,square", "--set", "square.queries=20", "--samples", "20", "--outsider", "other",
         "--whole", "--out", out, "--quiet"], standalone_mode=False)

whole(defend, "whole")
# eight rounds (two attacks on two members, the outsider, the whole), three looks, then the end: first of the time, then of
# all; each process goes on from what the one before left
at_moments(defend, "killed", [["before", 0], ["after", 1], ["before", 1], ["after", 4], ["before", 4], ["after", 1],
                              ["before", 1], ["after", 2]])
"""


def essence(path):
    """The file but for times, and for the environment, in which the number of a process may stand."""
    plain = json.loads(path.read_text())
    assert plain["status"] == "finished"
    return json.dumps({key: one for key, one in plain.items() if key not in ("seconds", "environment")})


@pytest.mark.slow
def test_killed_anywhere_it_ends_with_the_same_numbers(tmp_path):
    ensembled(tmp_path / "e")
    trained(tmp_path / "other", seed=7)
    run_script(SCRIPT, tmp_path)
    assert essence(tmp_path / "killed" / DEFENCE) == essence(tmp_path / "whole" / DEFENCE)
    pages = [(tmp_path / one / "report.html").is_file() for one in ("killed", "whole")]
    assert pages == [True, True]
