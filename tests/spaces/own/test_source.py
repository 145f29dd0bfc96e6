"""The source of functions that no name leads back to, as a run keeps it."""

from __future__ import annotations

import linecache

import pytest
from torch import nn

import foresee as fs
from foresee.errors import SettingsMismatchError
from foresee.runs import read
from foresee.spaces import own
from foresee.spaces.own.source import digest, source_of

LOOK = {"data": "synthetic", "inputs": (3, 8, 8), "outputs": 4, "batch_size": 4, "evaluations": 3}
FIRST = """
WIDTH = {width}

class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner = nn.Linear(width, width)

    def forward(self, inputs):
        return inputs + helped(self.inner(inputs))

def helped(inputs):
    return inputs.relu(){extra}
"""
SECOND = """
def make_net(pick):
    width = pick("width", [WIDTH, 8, 16])
    return nn.Sequential(nn.Flatten(), nn.Linear(192, width), Block(width), nn.Linear(width, 4))
"""


def notebook(width=4, extra="", after=""):
    """What a notebook makes of two cells: no file, and lines that `linecache` knows."""
    names = {"nn": nn, "__name__": "nowhere"}
    for number, text in enumerate([FIRST.format(width=width, extra=extra), SECOND + after]):
        file = f"<cell {number} {width} {extra} {after}>"
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        exec(compile(text, file, "exec"), names)
    return names["make_net"]


def test_the_source_holds_all_that_the_function_is_made_of():
    text = source_of(notebook())
    for part in ("def make_net(pick):", "WIDTH = 4", "class Block(Module):", "return inputs + helped", "def helped"):
        assert part in text
    assert source_of(notebook()) == text
    for other in (notebook(width=5), notebook(extra=" * 2"), notebook(after="    # other")):
        assert digest(source_of(other)) != digest(text)


def test_what_is_closed_over_counts():
    def made(width):
        def net(pick):
            return nn.Linear(width, pick("width", [1, 2]))

        return net

    assert "width = 3" in source_of(made(3))
    assert source_of(made(3)) != source_of(made(4))


def test_a_function_of_a_notebook_keeps_a_run_and_resumes_it(tmp_path):
    def go(function, name="r", **more):
        return fs.search(function, "synflow", "random", out=tmp_path / name, **LOOK, **more)

    def interrupt(event):
        if event.kind == "scored":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        go(notebook(), observers=[interrupt])
    assert (tmp_path / "r" / "source.txt").read_text() == source_of(notebook())
    for other in (notebook(width=5), notebook(extra=" * 2")):
        with pytest.raises(
            SettingsMismatchError,
            match=r"source of make_net is not the one of this run any more: put it back as it is in",
        ):
            go(other, resume=True)
    assert read(tmp_path / "r").status == "interrupted"
    run = go(notebook(), resume=True)
    assert run.status == "finished"
    assert run.record.settings["space"] == "given:make_net"
    assert fs.build(tmp_path / "r", space=notebook()) is not None
    whole = go(notebook(), "whole")
    assert [c.architecture for c in whole.record.candidates] == [c.architecture for c in run.record.candidates]


def test_what_a_name_leads_back_to_keeps_no_source(tmp_path):
    assert own(here).code == ""
    fs.search(here, "synflow", "random", out=tmp_path / "r", **LOOK)
    assert not (tmp_path / "r" / "source.txt").exists()


def here(pick):
    return nn.Sequential(nn.Flatten(), nn.Linear(192, pick("width", [4, 8, 16])), nn.ReLU())
