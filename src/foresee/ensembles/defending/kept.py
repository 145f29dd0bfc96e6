"""What was attacked before and what is attacked now: one JSON, written whole after every round."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any

from foresee.ensembles.attacks.masking import Masking
from foresee.ensembles.defended import OUTSIDER, Round
from foresee.ensembles.defending.withstood import DEFENCE, Withstood
from foresee.errors import RunError, SettingsMismatchError
from foresee.runs.folder import RunFolder, is_there, write_whole
from foresee.training.keeping import differences, read_plain


class Kept:
    """What was done before and what is done now, in one JSON that is written after every round."""

    def __init__(self, folder: Path | None, asked: Mapping[str, Any]) -> None:
        self.folder, self.asked = folder, asked
        self.rounds: list[dict[str, Any]] = []
        self.masking: list[dict[str, Any]] = []
        self.seconds, self._since = 0.0, time.monotonic()

    def hold(self, stack: ExitStack) -> None:
        """Take the folder, and take in what is there."""
        if self.folder is None:
            return
        held = RunFolder(self.folder)
        for name in ("training.json", "ensemble.json", "run.sqlite"):
            if is_there(self.folder / name):
                raise RunError(f"{self.folder}: holds something else ({name}); choose another --out")
        held.hold()
        stack.callback(held.release)
        if not is_there(self.folder / DEFENCE):
            return
        plain = read_plain(self.folder / DEFENCE)
        try:
            before, self.rounds, self.masking = plain["asked"], list(plain["rounds"]), list(plain["looked"])
            self.seconds = float(plain["seconds"])
        except (KeyError, TypeError, ValueError) as error:
            raise RunError(f"{self.folder / DEFENCE}: is no defence ({error} is wrong or missing)") from error
        # a control may be added later: rounds of another one are not taken for its own
        ours, theirs = ({key: one[key] for key in one if key != "outsider"} for one in (self.asked, before))
        different = differences(ours, theirs)
        if different:
            raise SettingsMismatchError(
                f"{self.folder}: another defence is in this folder: {'; '.join(different)}; choose another --out"
            )

    def known(self, wanted: Mapping[str, Mapping[str, Any]]) -> list[Round]:
        """Rounds of these attacks with these settings, and of this control."""
        outsider = (self.asked["outsider"] or {}).get("weights")
        return [
            Round(**one["round"])
            for one in self.rounds
            if wanted.get(one["round"]["attack"]) == one["settings"] and one.get("outsider") in (None, outsider)
        ]

    def add(self, one: Round, settings: Mapping[str, Any]) -> None:
        """A round that was done now."""
        outsider = self.asked["outsider"]["weights"] if one.member == OUTSIDER else None
        self.rounds.append({"settings": dict(settings), "outsider": outsider, "round": asdict(one)})
        self.write()

    def look(self, place: int, eps: float, found: Masking) -> None:
        """A look for masked gradients that was done now."""
        self.masking.append({"member": place, "eps": eps, **found.to_json()})
        self.write()

    def looked(self, place: int, eps: float) -> Masking | None:
        """A look that was done before."""
        for one in self.masking:
            if one["member"] == place and one["eps"] == eps:
                return Masking.from_json({key: value for key, value in one.items() if key not in ("member", "eps")})
        return None

    def write(self, found: Withstood | None = None) -> None:
        """All of it, whole."""
        now = time.monotonic()
        self.seconds, self._since = self.seconds + now - self._since, now
        if self.folder is not None:
            said = {"asked": dict(self.asked), "seconds": self.seconds} if found is None else found.to_json()
            plain = {
                "status": "running" if found is None else "finished",
                **said,
                "rounds": self.rounds,
                "looked": self.masking,
            }
            write_whole(self.folder / DEFENCE, json.dumps(plain, indent=1, allow_nan=False) + "\n")
