"""How proxies are asked for."""

from __future__ import annotations

from foresee.papers.dextr.suite import dextr_on
from foresee.papers.samples import BENCHMARKS
from foresee.proxies.base import get


def test_the_forms_asked_for_exist_and_are_the_public_codes():
    for benchmark in BENCHMARKS:
        for proxy in ("dextr", "meco", "inverse_conditions", "curvature", "dextr_opt"):
            asked = dextr_on(benchmark, proxy)
            assert get(asked.proxy).variant.startswith("reference")
    assert dextr_on("nasbench201-cifar10").proxy == "dextr:reference_nb201"
    assert dextr_on("nasbench201-cifar10").batch_size == 1
    assert dextr_on("nasbench101").proxy == "dextr:reference"
    assert dextr_on("nasbench101").batch_size == 32
