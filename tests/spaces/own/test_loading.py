"""Finding a user's function again, from anywhere."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
import torch
from torch import nn

import foresee
from foresee.errors import InputError, UnknownNameError
from foresee.spaces import Candidate, get, own
from foresee.spaces import own as own_function
from foresee.spaces.own import OwnSpace, load, load_object
from foresee.task import Task

TASK = Task((20,), 2)


def with_task(pick, task):
    return nn.Linear(task.inputs[0], pick("width", [1, 2]) * task.outputs)


@own_function
def decorated(pick):
    return nn.Linear(2, pick("width", [1, 2]))


@pytest.fixture
def here(tmp_path, monkeypatch) -> Path:
    """A folder of the user's, with modules of all kinds; the import state is put back afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [one for one in sys.path if one])
    loaded = set(sys.modules)
    net = "from torch import nn\ndef make_net(pick):\n    return nn.Linear(3, pick('width', [2, 4]))\n"
    (tmp_path / "my_models.py").write_text(net + "number = 3\n")
    (tmp_path / "my_package").mkdir()
    (tmp_path / "my_package" / "__init__.py").write_text("")
    (tmp_path / "my_package" / "nets.py").write_text(net + "class Nets:\n    make = staticmethod(make_net)\n")
    (tmp_path / "raises.py").write_text("raise RuntimeError('two\\nlines')\n")
    (tmp_path / "exits.py").write_text("import sys\nsys.exit(1)\n")
    (tmp_path / "needs.py").write_text("import not_installed_here\n")
    (tmp_path / "neighbour.py").write_text("from my_models import make_net\n")
    yield tmp_path
    for name in set(sys.modules) - loaded:
        if not name.startswith("foresee."):  # a room that was looked into stays
            del sys.modules[name]


@pytest.mark.parametrize(
    "reference",
    ["my_models:make_net", "my_package.nets:make_net", "my_package.nets:Nets.make", "my_models.py:make_net",
     "my_package/nets.py:make_net", "neighbour.py:make_net"],
)  # fmt: skip
def test_loading(here, reference):
    space = get(reference)
    assert isinstance(space, OwnSpace)
    assert space.reference == reference
    assert space.size == 2
    picks = space.parse('{"width":4}')
    plain = json.loads(json.dumps(Candidate(space, picks, Task((3,), 4)).to_json()))
    assert Candidate.from_json(plain, space=reference).build()(torch.zeros(1, 3)).shape == (1, 4)


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("my_model:make_net", "no module 'my_model': did you mean my_models"),
        ("my_package.net:make_net", "no module 'my_package.net': did you mean nets"),
        ("stringg:make_net", "no module 'stringg': it is neither installed nor in the current folder"),
        ("zzzqqq:make_net", "no module 'zzzqqq': it is neither installed nor in the current folder"),
        ("my_models:make_ne", "unknown function of my_models 'make_ne': did you mean make_net"),
        ("my_package.nets:Nets.mak", "did you mean make"),
        ("my_models:number", "my_models:number is a int, expected a function or class"),
        ("raises:make_net", "module raises cannot be imported: RuntimeError: two lines"),
        ("raises.py:make_net", "file raises.py cannot be imported: RuntimeError: two lines"),
        ("exits:make_net", "module exits cannot be imported: SystemExit: 1"),
        ("exits.py:make_net", "file exits.py cannot be imported: SystemExit: 1"),
        (
            "needs:make_net",
            "module needs cannot be imported: ModuleNotFoundError: No module named 'not_installed_here'",
        ),
        ("my_modls.py:make_net", "no file 'my_modls.py': did you mean my_models.py"),
        ("nowhere/x.py:make_net", "no file 'nowhere/x.py'"),
        ("my_models:", "expected module:function or path/to/file.py:function"),
        (":make_net", "expected module:function"),
        ("my_models", "expected module:function"),
    ],
)
def test_what_cannot_be_loaded_says_why(here, reference, message):
    with pytest.raises(InputError, match=message):
        load_object(reference)


def test_unknown_settings_are_named():
    with pytest.raises(UnknownNameError, match="unknown setting of an own space 'tsk': did you mean task"):
        load("math:sqrt", tsk=3)


def test_settings_travel():
    space = own(with_task, task=TASK)
    again = get(space.reference, **space.settings())
    assert again.settings() == space.settings()


def test_a_decorated_function_is_found():
    assert isinstance(decorated, OwnSpace)
    assert get(decorated.reference).sample(random.Random(0)) == decorated.sample(random.Random(0))


def test_functions_without_a_place_are_handed_over_again():
    def local(pick):
        return nn.Linear(1, pick("width", [1, 2]))

    for function, name in ((local, "local"), (lambda pick: nn.Linear(1, pick("width", [1, 2])), "<lambda>")):
        space = own(function)
        plain = space.to_json(space.sample(random.Random(0)), TASK)
        assert plain["space"].startswith("given:test_functions_without")
        assert plain["space"].endswith(name)
        assert Candidate.from_json(plain, space=function).build() is not None
        with pytest.raises(
            InputError, match=r"no code is run because a file names it; if it is yours, say so: space=test_"
        ):
            Candidate.from_json(plain)
        with pytest.raises(InputError, match=r"was handed over in Python: hand it over again \(space=test_"):
            get(plain["space"])


def test_a_function_whose_source_cannot_be_read_has_no_reference():
    names = {"nn": nn}
    exec("def typed_in(pick):\n    return nn.Linear(1, pick('width', [1, 2]))", names)
    space = own(names["typed_in"])
    assert space.build(space.sample(random.Random(0)), TASK) is not None  # all that stays in this process works
    with pytest.raises(InputError, match=r"the source of typed_in cannot be read, .*: put the function into a file"):
        space.to_json(space.sample(random.Random(0)), TASK)


SCRIPT = """
import json, random
from torch import nn
import foresee.spaces as spaces
from foresee.task import Task

def make_net(pick):
    return nn.Linear(3, pick("width", [2, 4, 8]))

if __name__ == "__main__":
    space = spaces.own(make_net)
    candidate = spaces.Candidate(space, space.parse('{"width":8}'), Task((3,), 8))
    assert spaces.get(space.reference).make_net is make_net  # not run again
    print(json.dumps(candidate.to_json()))
"""


def test_a_script_is_found_by_another_process(here):
    (here / "my_script.py").write_text(SCRIPT)
    path = str(Path(foresee.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "my_script.py"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert done.returncode == 0, done.stderr
    plain = json.loads(done.stdout)
    assert plain["space"] == "my_script.py:make_net"
    assert Candidate.from_json(plain, space="my_script.py:make_net").build()(torch.zeros(1, 3)).shape == (1, 8)


@pytest.mark.parametrize(
    ("file", "spec", "reference"),
    [
        ("scripts/a.py", None, "scripts/a.py:net"),  # python scripts/a.py
        ("/elsewhere/a.py", None, "/elsewhere/a.py:net"),
        ("pack/a.py", "pack.a", "pack.a:net"),  # python -m pack.a
        (None, None, "given:net"),  # a notebook
    ],
)
def test_references_of_the_main_program(here, monkeypatch, file, spec, reference):
    main = ModuleType("__main__")
    main.__file__, main.__spec__ = file, spec and SimpleNamespace(name=spec)

    def net(pick):
        return nn.Linear(1, pick("width", [1, 2]))

    net.__module__, net.__qualname__, main.net = "__main__", "net", net
    monkeypatch.setitem(sys.modules, "__main__", main)
    assert own(net).reference == reference
