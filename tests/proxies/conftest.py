from __future__ import annotations

import pytest
from tests.looking import _one_thread, batch, golden, small  # noqa: F401

from foresee.proxies.base import Proxy


@pytest.fixture(autouse=True)
def _computed(request, monkeypatch):
    """A test that says which proxies it `checks` has computed them: the pages of the proxies repeat what it says."""
    said = {name for mark in request.node.iter_markers("checks") for name in mark.args}
    seen: set[str] = set()
    formula = Proxy.__call__

    def call(self, probe):
        seen.add(self.name)
        return formula(self, probe)

    monkeypatch.setattr(Proxy, "__call__", call)
    yield
    assert said <= seen, f"said to be checked, but never computed: {sorted(said - seen)}"
