"""Which code a score depends on."""

from __future__ import annotations

import importlib
import sys

import pytest

from foresee.scoring.versions import code, function_code


@pytest.fixture
def package(tmp_path, monkeypatch):
    folder = tmp_path / "someones"
    folder.mkdir()
    (folder / "__init__.py").write_text("from someones import other\n")
    (folder / "formula.py").write_text("from someones.help import double\ndef f(x): return double(x)\n")
    (folder / "help.py").write_text("def double(x):\n    from . import deep\n    return 2 * x\n")
    (folder / "deep.py").write_text("import someones.deeper\n")
    (folder / "deeper.py").write_text("from someones import formula\n")  # round and round
    (folder / "other.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    code.cache_clear()
    yield folder
    for name in [name for name in sys.modules if name.startswith("someones")]:
        del sys.modules[name]
    code.cache_clear()


@pytest.mark.parametrize("file", ["formula.py", "help.py", "deep.py", "deeper.py"])
def test_a_change_to_what_it_imports_is_seen(package, file):
    before = code("someones.formula")
    (package / file).write_text((package / file).read_text() + "# changed\n")
    code.cache_clear()
    importlib.invalidate_caches()
    assert code("someones.formula") != before


@pytest.mark.parametrize("file", ["other.py", "__init__.py"])
def test_a_change_elsewhere_is_not(package, file):
    before = code("someones.formula")
    (package / file).write_text("unrelated = 1\n")
    code.cache_clear()
    assert code("someones.formula") == before


def test_a_package_imports_from_its_own_folder(package):
    (package / "__init__.py").write_text("from .formula import f\n")
    (package / "inner").mkdir()
    (package / "inner" / "__init__.py").write_text("from .part import g\n")
    (package / "inner" / "part.py").write_text("def g(x): return x\n")
    importlib.invalidate_caches()
    before = code("someones"), code("someones.inner")
    for file in (package / "formula.py", package / "inner" / "part.py"):
        file.write_text(file.read_text() + "# changed\n")
    code.cache_clear()
    after = code("someones"), code("someones.inner")
    assert after[0] != before[0]
    assert after[1] != before[1]


def test_one_proxy_does_not_depend_on_another():
    from foresee.scoring import versions

    def modules(name):
        seen, waiting = set(), [name]
        while waiting:
            one = waiting.pop()
            file = versions._file(one)
            if one not in seen and file is not None and one.startswith("foresee."):
                seen.add(one)
                waiting += versions._imports(one, file.read_bytes())
        return seen

    zico = modules("foresee.proxies.gradients.zico")
    assert {"foresee.proxies.gradients.zico", "foresee.probes.probe", "foresee.proxies.base"} <= zico
    assert not {"foresee.proxies", "foresee.proxies.features.dextr", "foresee.proxies.gradients.synflow"} & zico


def test_a_function_of_a_file_and_one_of_none():
    from foresee.proxies import counts as simple

    assert function_code(simple.params) == code("foresee.proxies.counts")
    made, other = {}, {}
    exec("def f(x): return x + 1", made)
    exec("def f(x): return x + 2", other)
    assert function_code(made["f"]) != function_code(other["f"])
