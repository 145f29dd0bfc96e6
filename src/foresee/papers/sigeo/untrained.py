"""SiGeo's Table 2: fifteen proxies without warm-up on NAS-Bench-101, 201 and 301."""

from __future__ import annotations

from collections.abc import Iterator

from foresee.papers.asked import Asked, Coefficient
from foresee.papers.base import reproduction
from foresee.papers.cells import Found
from foresee.papers.dextr.suite import suite, suite_targets
from foresee.papers.rows import Rows, correlation_cells
from foresee.papers.workshop import Workshop


@reproduction("sigeo-table-2", by_row=True)
def table_2(workshop: Workshop) -> Iterator[Found]:
    """Spearman and Kendall with the benchmark's accuracy, no warm-up.

    The paper takes NAS-Bench-Suite-Zero: its batch of 32 for every proxy that looks at data, on the benchmark's own
    networks. Accuracies on NAS-Bench-201 are the suite's validation accuracies: over all 15,625 cells #params has 0.715 with
    them, as printed (0.72), and 0.753 with the test accuracies. ZiCo: two batches of 32. SiGeo: the released code for images
    (`:released_cv`), four batches of 64 with a step of size 1 after each, weights 1, 1, 0. Zen with running statistics,
    NASWOT over true ReLUs as the suite counts them.
    """
    rows: Rows = {
        name: suite(name.replace("-", "_"))
        for name in ("epe-nas", "fisher", "grad-norm", "grasp", "jacov", "naswot", "plain", "snip", "zico")
    }
    rows |= {name: Asked(name.replace("-", "_")) for name in ("flops", "l2-norm", "params", "synflow")}
    rows |= {"zen": Asked("zen:reference"), "sigeo": Asked("sigeo:released_cv", batch_size=64)}
    for benchmark in (
        "nasbench101",
        "nasbench201-cifar10",
        "nasbench201-cifar100",
        "nasbench201-imagenet16",
        "nasbench301",
    ):
        columns: dict[str, Coefficient] = {f"{benchmark}:spearman": "spearman", f"{benchmark}:kendall": "kendall"}
        yield from correlation_cells(workshop, benchmark, rows, columns, targets=suite_targets(benchmark))
