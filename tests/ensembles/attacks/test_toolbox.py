"""ART's own, where it is installed: as ours."""

from __future__ import annotations

import pytest
import torch
from tests.ensembles.attacks.golden.network import EPS, PGD, arrays, trained

from foresee.ensembles.attacks import attacks
from foresee.errors import MissingExtraError
from foresee.extras import available


def test_without_it_the_extra_is_named():
    if available("art"):
        pytest.skip("it is installed")
    with pytest.raises(MissingExtraError, match=r"foresee\[attacks\]"):
        attacks["art:fgsm"](*trained())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "settings"),
    [("fgsm", {"eps": EPS}), ("pgd", PGD), ("cw", {"steps": 5}), ("square", {"eps": EPS, "queries": 20})],
)
def test_with_it_it_runs(name, settings):
    pytest.importorskip("art")
    found = attacks[f"art:{name}"](*trained(), **settings)
    assert found.accuracy <= found.clean_accuracy
    if name in ("fgsm", "pgd"):
        torch.testing.assert_close(found.images, torch.from_numpy(arrays()[f"art_{name}"]), atol=1e-5, rtol=0)
