"""Published counts, and formulas against networks on the meta device, in every form."""

from __future__ import annotations

import pytest

from foresee.seeds import stream
from foresee.spaces.counting import measure
from foresee.spaces.darts import DARTS, network
from foresee.spaces.darts.counts import count
from foresee.spaces.darts.named import NAMED
from foresee.spaces.darts.network import Form
from foresee.task import Task

CIFAR, IMAGENET = Task((3, 32, 32), 10), Task((3, 224, 224), 1000)


@pytest.mark.parametrize(
    ("name", "params", "with_auxiliary", "macs", "small"),
    [
        ("DARTS_V2", 3_349_342, 3_825_768, 528.36, 246_106),
        ("DARTS_V1", 3_169_414, 3_645_840, 500.99, 232_890),
        ("SNAS", 2_661_382, 3_137_808, 422.22, 200_954),
        ("NASNet_A", 3_830_950, 4_288_944, 603.45, 333_946),
        ("AmoebaNet_A", 3_145_078, 3_603_072, 488.93, 326_330),
        ("ENAS", 3_859_894, 4_317_888, 605.72, 334_010),
        ("GDAS_V1", 3_368_782, None, None, None),
        ("PC_DARTS_C10", 3_634_678, None, None, None),
    ],
)
def test_published_counts(name, params, with_auxiliary, macs, small):
    one = NAMED[name]
    found = DARTS().counts(one, CIFAR)
    assert found.params == params
    if macs is not None:
        head = DARTS(auxiliary=True).counts(one, CIFAR)
        assert head.params == with_auxiliary
        assert head.macs == found.macs
        assert round(found.macs / 1e6, 2) == macs
        assert DARTS(channels=16, layers=8).counts(one, CIFAR).params == small


@pytest.mark.parametrize(("name", "params", "macs"), [("DARTS_V2", 4_718_752, 529.9), ("DARTS_V1", 4_510_432, 505.9)])
def test_published_imagenet_counts(name, params, macs):
    found = DARTS(channels=48, layers=14, network="imagenet").counts(NAMED[name], IMAGENET)
    assert found.params == params
    assert round(found.macs / 1e6, 1) == macs


def test_the_network_hnas_looks_at():
    assert DARTS(channels=16, layers=5).counts(NAMED["DARTS_V2"], CIFAR).params == 129_706


@pytest.mark.slow
@pytest.mark.parametrize("name", ["DARTS_V2", "AmoebaNet_A"])
def test_published_networks_are_built_as_counted(name):
    space = DARTS(auxiliary=True)
    assert measure(lambda: space.build(NAMED[name], CIFAR), CIFAR) == space.counts(NAMED[name], CIFAR)


@pytest.mark.parametrize(
    "form",
    [
        Form(5, 3),
        Form(4, 4, "imagenet", auxiliary=True),
        Form(4, 3, search=True),
        Form(4, 3, search=True, partial=2),
        Form(4, 3, search=True, pooled=True),
        Form(4, 3, "imagenet", search=True, pooled=True, partial=4),
    ],
    ids=str,
)
def test_formulas_agree_with_networks(form):
    task = Task((2, 199, 193) if form.auxiliary else (2, 21, 18), 3)
    one = DARTS().sample(stream(1))
    assert count(one, task, form) == measure(lambda: network.build(one, task, form), task)
