"""A canary: code that lies beside the data, and sings when anybody runs it."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

_CODE = """
from pathlib import Path

def make(*_, **__):
    with Path({song!r}).open("a") as file:
        file.write("{who} was run\\n")
    from torch import nn
    return nn.Linear(4, 2)

with Path({song!r}).open("a") as file:
    file.write("{who} was imported\\n")
"""
#: modules that foresee imports by itself; one of the same name in the current folder must not be taken for them
SHADOWS = ("PIL", "botorch", "safetensors")


class Canary:
    """Modules in a folder that nobody named, and what files may say to have them run."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.song = folder, folder / "song_of_the_canary"
        for who in ("canary", *SHADOWS):
            (folder / f"{who}.py").write_text(_CODE.format(song=str(self.song), who=who))

    @property
    def references(self) -> tuple[str, ...]:
        """Every way to name the code, or to reach other code, in the place of a space or a name."""
        path = self.folder / "canary.py"
        return (
            *(
                "canary:make",
                "canary.py:make",
                "./canary.py:make",
                f"{path}:make",
                "canary:make.x",
                "canary",
                "canary:",
            ),
            *(
                f"nasbench201:{path}",
                "os:system",
                "builtins:exec",
                f"file://{path}:make",
                " canary:make",
                "canary:make\n",
            ),
        )

    def pickle(self, protocol: int = 2, *, inside: Callable[[Any], Any] = lambda bomb: bomb) -> bytes:
        """A pickle that sings when it is loaded; `inside` puts the bomb into something larger."""
        file = io.BytesIO()
        pickle.Pickler(file, protocol).dump(inside(_Bomb(str(self.song))))
        return file.getvalue()

    def check(self, what: str = "") -> None:
        """Nothing was run."""
        assert not self.song.exists(), f"code of a file was run {what}: {self.song.read_text().splitlines()}"


class _Bomb:
    """Opens the song for writing when it is unpickled."""

    def __init__(self, song: str) -> None:
        self.song = song

    def __reduce__(self) -> Any:
        return open, (self.song, "w")
