"""`python -m hostile`, or `make hostile`: the campaign, as the environment says.

HOSTILE_MINUTES (60) is how long, HOSTILE_SEED (0) decides everything drawn, HOSTILE_KINDS ("kills texts"; all) says which,
HOSTILE_WORKERS (2) how many cases at a time, HOSTILE_CASES (no bound) how many of each kind at most. The exit code is 1 where
a promise broke, and 0 where all held.
"""

from __future__ import annotations

import os
import signal
import sys
from functools import partial

# Before numpy and torch are imported: cases are forked from this process, which must have one thread only.
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = "1"

from foresee.errors import InputError
from hostile import campaign
from hostile.failures import ROOT, Failures
from hostile.kind import load, names


def main() -> int:
    """Run it."""
    try:
        minutes, seed = _number("HOSTILE_MINUTES", 60.0), int(_number("HOSTILE_SEED", 0))
        workers = int(_number("HOSTILE_WORKERS", 2))
        most = int(_number("HOSTILE_CASES", 0)) or None
        chosen = os.environ.get("HOSTILE_KINDS", "").replace(",", " ").split() or names()
        kinds = [load(name) for name in chosen]
    except InputError as error:
        print(f"hostile: {error}", file=sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a polite kill ends the cases too
    failures = Failures(ROOT / "runs" / "hostile")
    say = partial(print, flush=True)
    say(f"{len(kinds)} kinds for {minutes:g} minutes, seed {seed}; what breaks goes to runs/hostile")
    tallies = campaign.run(
        kinds, seconds=60 * minutes, seed=seed, failures=failures, say=say, workers=workers, most=most
    )
    say(campaign.summary(tallies))
    (failures.folder / "summary.md").write_text(campaign.table(tallies))
    return 1 if any(tally.broken for tally in tallies) else 0


def _number(name: str, usual: float) -> float:
    text = os.environ.get(name, "")
    try:
        value = float(text) if text else usual
    except ValueError:
        raise InputError(f"{name}={text!r}: expected a number") from None
    if not 0 <= value < 1e9:
        raise InputError(f"{name}={text}: expected a number from 0")
    return value


if __name__ == "__main__":
    sys.exit(main())
