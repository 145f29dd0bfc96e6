"""How foresee computes each golden value: by which proxy, from which batches; and whose code the value is of.

An entry of `values.json` without a recipe fails its test, and so does a recipe without an entry. The pages of the proxies say
from these recipes what each proxy is checked by.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from tests.golden.values import Golden, arrays

#: what a value that no public code gives was made by
PAPER = "the paper's formula"


def first(count: int, golden: Golden) -> Any:
    """The first so many samples, as one batch."""
    return golden.inputs[:count], golden.labels[:count]


def whole(golden: Golden) -> Any:
    """All 16 samples, as one batch."""
    return golden.inputs, golden.labels


def batches_of(size: int, golden: Golden) -> Any:
    """All samples in batches of this size."""
    return list(zip(golden.inputs.split(size), golden.labels.split(size), strict=True))


def drawn_batches(golden: Golden) -> Any:
    """The batches that were drawn for KNAS."""
    rows = torch.from_numpy(arrays(golden.name)["batches"]).long()
    return [(golden.inputs[one], golden.labels[one]) for one in rows]


@dataclass(frozen=True)
class Recipe:
    """One golden value: the proxies (or variants) that give it, whose code gave it, and how near ours has to be.

    `tolerance` is relative, for float64 and float32, `parts_tolerance` that of the parts, which are known in float64 only.
    """

    proxies: tuple[str, ...]
    code: str
    batches: Callable[[Golden], Any] = whole
    settings: Mapping[str, Any] = field(default_factory=dict)
    tolerance: tuple[float, float] = (1e-6, 1e-4)
    parts_tolerance: tuple[float, float] = (1e-6, 1e-3)


DEXTR, MECO, ZICO, SWAP = (
    "rohanasthana/Dextr@55bcd43",
    "HamsterMimi/MeCo@0d830dd",
    "SLDGroup/ZiCo@b0fec65",
    "pym1024/SWAP@f6049f7",
)
ZERO_COST, TENAS, AZNAS = "SamsungLabs/zero-cost-nas@a43bfbc", "VITA-Group/TENAS@9df78ff", "cvlab-yonsei/AZ-NAS@5e6683a"
NASWOT, EPE, TF_TAS = (
    "BayesWatch/nas-without-training@b3a82a6",
    "VascoLopes/EPE-NAS@22bd341",
    "decemberzhou/TF_TAS@42616bc",
)
OWN = {"initialise": "default"}
ONE, FOURS = partial(first, 1), partial(batches_of, 4)
#: two batches: nearly equal gradients are divided by their difference, which leaves few digits
FEW_DIGITS = (1e-3, 1e-2)

RECIPES: dict[str, Recipe] = {
    "dextr_b1_s32": Recipe(("dextr:reference",), DEXTR, ONE),
    "dextr_b16_s32": Recipe(("dextr:reference",), DEXTR),
    "dextr_nb201_b1_s64": Recipe(("dextr:reference_nb201",), DEXTR, ONE),
    "dextr_opt_b1_s32": Recipe(("dextr_opt:reference",), DEXTR, ONE),
    "curvature_theta8_s32": Recipe(("curvature:reference_sum",), DEXTR, ONE, tolerance=(1e-6, 1e-3)),
    "meco_b1": Recipe(("meco:reference",), MECO, ONE),
    "meco_b16": Recipe(("meco:reference",), MECO),
    "meco_opt_b1": Recipe(("meco_opt:reference",), MECO, ONE),
    "meco_opt_b16": Recipe(("meco_opt:reference",), MECO),
    "zico_2x8": Recipe(("zico",), ZICO, partial(batches_of, 8), tolerance=FEW_DIGITS),
    "zico_4x4": Recipe(("zico",), ZICO, FOURS),
    "naswot_b16": Recipe(("naswot:reference",), NASWOT),
    "naswot_b16_relu_only": Recipe(("naswot",), NASWOT),
    "nwot_naslib_b16": Recipe(("naswot",), "automl/NASLib@0b51bc1"),
    "naswot_gelu": Recipe(("naswot",), TF_TAS),
    "jacov": Recipe(("jacov",), ZERO_COST),
    "snip": Recipe(("snip",), ZERO_COST),
    "grasp": Recipe(("grasp",), ZERO_COST),
    "fisher": Recipe(("fisher:reference",), ZERO_COST),
    "grad_norm": Recipe(("grad_norm",), ZERO_COST),
    "plain": Recipe(("plain",), ZERO_COST),
    "l2_norm": Recipe(("l2_norm",), ZERO_COST),
    "synflow": Recipe(("synflow",), ZERO_COST, tolerance=(1e-9, 1e-9)),
    "synflow_bn": Recipe(("synflow_bn",), ZERO_COST, tolerance=(1e-9, 1e-9)),
    "epe_nas": Recipe(("epe_nas",), EPE),
    "epe_nas_over100": Recipe(("epe_nas",), EPE, settings={"many_classes": True}),
    "zen": Recipe(("zen:reference",), "idstcv/ZenNAS@d1d617e"),
    "swap": Recipe(("swap", "swap:reference"), SWAP, settings=OWN),
    "swap_gauss": Recipe(("swap", "swap:reference"), SWAP),
    "swap_reg": Recipe(("swap_reg", "swap_reg:reference"), SWAP, settings={**OWN, "mu": 50, "sigma": 2000}),
    # The public code multiplies float32 gradients in float32, which costs it up to 2e-4; tests of ntk_cond hold ours to 1e-5.
    "te_ntk_cond_b8": Recipe(("ntk_cond",), TENAS, partial(first, 8), tolerance=(1e-8, 3e-4)),
    "te_ntk_cond_b16": Recipe(("ntk_cond",), TENAS, tolerance=(1e-8, 3e-4)),
    "te_linear_regions_b16": Recipe(("linear_regions", "linear_regions:reference"), TENAS),
    "knas_mgm": Recipe(("knas",), "Jingjing-NLP/KNAS@5fbb0fe", drawn_batches),
    "az_expressivity": Recipe(("az_expressivity:given",), AZNAS),
    "az_progressivity": Recipe(("az_progressivity:given",), AZNAS),
    "az_trainability": Recipe(("az_trainability:given",), AZNAS),
    "tftas_dss": Recipe(("dss", "dss:reference"), TF_TAS),
    "sigeo_official_nasrec": Recipe(
        ("sigeo:released_ctr_whole",), "zhenghuazx/NasRec-SiGeo@4d6f718", FOURS, {"optimizer": "sgd", "lr": 0.1}
    ),
    "sigeo_official_naslib": Recipe(("sigeo:released_cv",), "zhenghuazx/NASLib-SiGeo@65e789c", FOURS),
    "sigeo_formula_frozen": Recipe(("sigeo",), PAPER, FOURS, {"lambda3": 1.0}),
    "sigeo_formula_sgd01": Recipe(("sigeo:sgd",), PAPER, FOURS, {"lambda3": 1.0}),
}
