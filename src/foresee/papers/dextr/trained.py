"""Networks that Dextr's searches find for ImageNet, counted at that size and trained small: Dextr Tables 2, 3 and 8."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from foresee.papers.base import reproduction
from foresee.papers.cells import Cell, Found
from foresee.papers.darts_trained import known
from foresee.papers.trained import IMAGENET, REDUCED, REDUCED_CELLS, error, printed, searched, size
from foresee.papers.workshop import Workshop
from foresee.task import Task

#: DARTS networks for ImageNet: a stem that halves three times, 48 channels, 14 cells
LARGE: Mapping[str, Any] = {"network": "imagenet", "channels": 48, "layers": 14}
KNOWN = {"darts-2nd": "DARTS_V2", "snas": "SNAS", "pc-darts": "PC_DARTS_ImageNet"}
CELLS = {"zico": "zico-darts", "meco": "meco-darts", "dextr": "dextr-darts"}
TRANSFORMERS = {"autoformer-tiny/dextr": "dextr-autoformer-tiny", "autoformer-small/dextr": "dextr-autoformer-small"}
MOBILE = {"zico": "zico-mobilenet", "az-nas": "aznas-mobilenet", "dextr": "dextr-mobilenet"}
#: what large networks are trained on in minutes: the images of --data at their own size
SMALL = Task((3, 32, 32), 10)
FIVE = "of a thousand classes; the images of --data have ten"


@reproduction("dextr-table-2", judged=False, settings=REDUCED_CELLS)
def table_2(workshop: Workshop) -> Iterator[Found]:
    """DARTS cells by operation scoring with ZiCo, MeCo and Dextr (their presets), beside published cells of others.

    Parameters (and MACs, beside them) are of the ImageNet network of 48 channels and 14 cells, as printed. The error is that
    of networks for small images, of `channels` and `layers`, after `epochs` of recipe fast on the images of --data, for all
    rows alike: it compares them with each other. `full` searches at the published size.
    """
    own = workshop.own(REDUCED_CELLS)
    for row in (*KNOWN, *CELLS):
        picks = (
            [known(KNOWN[row])] * workshop.repeats if row in KNOWN else searched(workshop, CELLS[row], full=own["full"])
        )
        yield size(row, "params", [printed(one, IMAGENET, **LARGE) for one in picks])
        yield error(workshop, row, "imagenet:top1-error", picks, own, recipe="fast", task=SMALL)
        yield Cell.missing(row, "imagenet:top5-error", FIVE)


@reproduction("dextr-table-3", judged=False, settings=REDUCED)
def table_3(workshop: Workshop) -> Iterator[Found]:
    """Vision transformers: the best Dextr of random draws under 6 M and 24 M parameters (presets; 1,000 draws with `full`).

    Parameters and FLOPs (the paper's are MACs) are of 224x224 images and 1,000 classes, as printed. The error is that of the
    same transformer on the images of --data at 32x32, which are four patches, after `epochs` of recipe fast.
    """
    own = workshop.own(REDUCED)
    for row, name in TRANSFORMERS.items():
        picks = searched(workshop, name, full=own["full"])
        yield size(row, "params", picks)
        yield size(row, "flops", picks, 1e9, what="macs")
        yield error(workshop, row, "imagenet:top1-error", picks, own, recipe="fast", task=SMALL)


@reproduction("dextr-table-8", judged=False, settings=REDUCED)
def table_8(workshop: Workshop) -> Iterator[Found]:
    """MobileNetV2-like networks under 450 M FLOPs by evolution (presets; population 1,024 and 100,000 steps with `full`).

    FLOPs (the paper's are MACs) are of 224x224 images and 1,000 classes, as printed. The accuracy is that of the same network
    on the images of --data at 32x32 after `epochs` of recipe fast.
    """
    own = workshop.own(REDUCED)
    for row, name in MOBILE.items():
        picks = searched(workshop, name, full=own["full"])
        yield size(row, "flops", picks, 1e6, what="macs")
        yield error(workshop, row, "imagenet:top1-accuracy", picks, own, recipe="fast", task=SMALL, right=True)
