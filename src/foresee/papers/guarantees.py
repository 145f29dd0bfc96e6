"""The bounds of the thesis over a sample of architectures: metrics as asked for, kappa beside them, mu and nu chosen once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from foresee.errors import InputError, MissingExtraError, UnknownNameError
from foresee.papers.asked import Asked, Coefficient, Measured
from foresee.papers.bound import Choice, choose
from foresee.papers.cells import Cell, Unavailable, missing
from foresee.papers.samples import Floats, Sample
from foresee.papers.workshop import Workshop
from foresee.proxies.kernels.hnas import SCENARIOS
from foresee.searchers.unified import Bounds
from foresee.statistics import known_pairs, spearman

#: the metrics as Tables 7.1 to 7.11 have them: zero-cost-nas' forms, and the kernel's trace
METRICS = {"grad": "grad_norm", "snip": "snip", "grasp": "grasp", "trace": "m_trace"}
#: those of Table 7.12
FURTHER = {"knas": "m_knas", "fisher": "fisher", "synflow": "synflow", "naswot": "naswot"}
#: Equations 7.2 and 7.3 as they stand
WRITTEN = {"m-grad": "m_grad", "m-snip": "m_snip", "m-grasp": "m_grasp"}

#: those that count without their sign
UNSIGNED = ("grasp",)

#: samples for the metrics and for kappa
BATCH = 64
#: samples for what takes a backward run for each of them; Table 7.10 shows that metrics hardly change with the batch
FEW = {"m_trace": 16, "m_knas": 16, "m_grasp": 4}
#: channels of the networks that metrics look at (NAS-Bench-101 has 128: too wide to differentiate by every sample)
WIDTH = 16
#: channels of those that kappa looks at: the best of Table 7.11
THIN = 4
#: architectures whose validation results mu and nu may see: half of the sample, within these limits
SUBSET = (30, 100)
#: architectures of a table, and of those that look at each of them several times
SIZE, FEWER = 100, 50
COEFFICIENTS: tuple[Coefficient, ...] = ("spearman", "kendall")
#: epochs after which these were measured
EPOCHS = 12
#: tries where the thesis had hundreds; so many need no model of what to try next
TRIES = 200


def asked(
    proxy: str,
    *,
    batch: int | None = None,
    channels: int = WIDTH,
    initialise: str = "lecun",
    data: str | None = None,
) -> Asked:
    """A metric as the thesis asks for it: LeCun's weights (Table 7.9 says so), the networks of the public proxy code."""
    network = {"variant": "reference", "channels": channels}
    return Asked(proxy, {"initialise": initialise}, batch or FEW.get(proxy, BATCH), network, data)


def kappa(*, batch: int = BATCH, channels: int = THIN, initialise: str = "lecun", data: str | None = None) -> Asked:
    """The condition number of the kernel of the samples' own classes."""
    return asked("ntk_cond:hnas", batch=batch, channels=channels, initialise=initialise, data=data)


def base(names: Mapping[str, str]) -> dict[str, Asked]:
    """The metrics and kappa as most tables have them."""
    return {name: asked(proxy) for name, proxy in names.items()} | {"kappa": kappa()}


def metrics(workshop: Workshop, sample: Sample, wanted: Mapping[str, Asked]) -> dict[str, Measured]:
    """Every metric over the sample; GraSP without its sign, as in Eq. 7.3."""
    found = workshop.measure(sample, wanted)
    return {name: _unsigned(one) if wanted[name].proxy in UNSIGNED else one for name, one in found.items()}


def _unsigned(measured: Measured) -> Measured:
    return Measured(np.abs(measured.values), "higher", measured.reasons)


class Guarantees:
    """The bounds of a sample. `base` has the metrics and `kappa` under which mu and nu are chosen, once for each metric.

    They are chosen on validation errors after 12 epochs of a part of the sample, in the non-realizable scenario, from
    the first repeat's metrics. The accuracies the table is judged on are not looked at.
    """

    def __init__(self, workshop: Workshop, sample: Sample, base: Mapping[str, Measured]) -> None:
        self.workshop, self.sample, self.base = workshop, sample, base
        self._chosen: dict[str, Choice] = {}
        self._seen: dict[str, Choice] = {}
        self._whole: dict[str, Choice | None] = {}

    def _bounds(self, metric: str) -> Bounds:
        return Bounds.of(self.base[metric].values[0], _infinite(self.base["kappa"].values[0]))

    def choice(self, metric: str) -> Choice:
        """The mu and nu of a metric."""
        if metric not in self._chosen:
            bounds = self._bounds(metric)
            errors = validation_errors(self.sample)
            found = choose(bounds, errors, seed=self.workshop.seed)
            self.workshop.note(self._short_and_long(errors))
            self.workshop.note(f"{self.sample.benchmark}, {metric}: {found}")
            self._chosen[metric] = found
        return self._chosen[metric]

    def _short_and_long(self, errors: Floats) -> str:
        """How far short trainings foresee the judged ones: what a choice by the former can be worth. Said, not used."""
        short, long = known_pairs(errors, -self.sample.truth)
        return (
            f"{self.sample.benchmark}: mu and nu follow validation errors after {EPOCHS} epochs; among the {len(short)} "
            f"architectures they see, these have Spearman {spearman(short, long):.3f} with the errors the table is judged on"
        )

    def bound(
        self,
        metric: str,
        scenario: str,
        *,
        values: Measured | None = None,
        kappa: Measured | None = None,
        at: tuple[float, float] | None = None,
    ) -> Measured:
        """The bound of every architecture; of other `values` or `kappa`, or `at` other mu and nu than the metric's, if given.

        mu and nu count where the scenario has a trade-off.
        """
        values, kappa = values or self.base[metric], kappa or self.base["kappa"]
        trade_off, conditioned = SCENARIOS[scenario]
        if at is None:
            at = (self.choice(metric).mu, self.choice(metric).nu) if trade_off else (0.0, 0.0)
        pairs = zip(values.values, _infinite(kappa.values), strict=True)
        found = np.stack([Bounds.of(m, k, scenario=scenario).at(*at) for m, k in pairs])
        reasons = {**values.reasons, **(kappa.reasons if conditioned else {})}
        return Measured(np.where(np.isfinite(found), found, np.nan), "lower", reasons)

    def cells(
        self,
        row: str,
        columns: Mapping[str, Coefficient],
        metric: str,
        scenario: str,
        *,
        values: Measured | None = None,
        kappa: Measured | None = None,
    ) -> Iterable[Cell]:
        """The correlation of the bound with the error (of less bound with more accuracy), or why there is none."""
        try:
            found = self.bound(metric, scenario, values=values, kappa=kappa)
        except (Unavailable, MissingExtraError, InputError) as why:
            yield from missing([row], columns, why)
            return
        for column, coefficient in columns.items():
            words = [found.words]
            if SCENARIOS[scenario][0]:
                words += self._other_choices(metric, scenario, coefficient, values, kappa)
            elif values is None and scenario == "realizable":
                words.append(self._by_others(metric, coefficient))
            estimate = self.workshop.correlation(found, self.sample.truth, coefficient)
            yield Cell(row, column, estimate, "; ".join(filter(None, words)))

    def _other_choices(
        self, metric: str, scenario: str, coefficient: Coefficient, values: Measured | None, kappa: Measured | None
    ) -> Iterator[str]:
        """What the choice of mu and nu is worth, in words: said beside a number, never it."""
        seen = self._on_the_judged(metric)
        others = [((0.0, 0.0), "mu = 0"), ((seen.mu, seen.nu), "mu and nu of the judged errors, as in the thesis")]
        whole = self._on_whole_trainings(metric)
        if whole is not None:
            others.append(((whole.mu, whole.nu), "mu and nu of validation errors after whole trainings"))
        for at, words in others:
            found = self.bound(metric, scenario, values=values, kappa=kappa, at=at)
            yield f"{self.workshop.point(found, self.sample.truth, coefficient):.2f} with {words}"

    def _on_the_judged(self, metric: str) -> Choice:
        """The mu and nu that the thesis' way of choosing gives: hundreds of tries on the errors the table is judged on."""
        if metric not in self._seen:
            errors, seed = 100 - self.sample.truth, self.workshop.seed
            self._seen[metric] = choose(self._bounds(metric), errors, evaluations=TRIES, seed=seed, method="random")
        return self._seen[metric]

    def _on_whole_trainings(self, metric: str) -> Choice | None:
        """The mu and nu of validation errors after whole trainings of the same part; None where the table has none.

        Short trainings rank otherwise than whole ones: on NAS-Bench-201 a bound that follows them leaves the judged errors.
        """
        if metric not in self._whole:
            try:
                errors = validation_errors(self.sample, epochs=None)
            except Unavailable:
                self._whole[metric] = None
            else:
                seed = self.workshop.seed
                self._whole[metric] = choose(
                    self._bounds(metric), errors, evaluations=TRIES, seed=seed, method="random"
                )
        return self._whole[metric]

    def _by_others(self, metric: str, coefficient: Coefficient) -> str:
        """What the metric has by the values that a table brought along; 1 / M ranks as M does, the other way round."""
        proxy = (METRICS | FURTHER).get(metric, "")
        return self.workshop.by_others(self.sample, [proxy], coefficient, unsigned=UNSIGNED) if proxy else ""


def validation_errors(sample: Sample, epochs: int | None = EPOCHS) -> Floats:
    """Errors in percent after 12 epochs (None: after whole trainings) for the first part of the sample; NaN for the rest."""
    name = f"val_acc_{sample.task}" if epochs is None else f"val_acc_{sample.task}@{epochs}"
    try:
        target = sample.table.target(name)
    except UnknownNameError as why:
        raise Unavailable(f"mu and nu cannot be chosen: no {name} in the table of {sample.space}") from why
    if epochs is None and target.epochs <= EPOCHS:
        raise Unavailable(f"no validation results after whole trainings in the table of {sample.space}")
    if target == sample.table.target(sample.target):
        raise Unavailable(f"mu and nu cannot be chosen: {name} is what the table is judged on")
    places = [sample.table.find(text) for text in sample.texts]
    errors = 100 - sample.table.values(name)[places]
    errors[int(np.clip(len(sample) // 2, *SUBSET)) :] = np.nan
    return np.asarray(errors, np.float64)


def _infinite(kappa: Floats) -> Floats:
    """A kernel that cannot be inverted has no condition number: its bound is infinite, the architecture ranks last."""
    return np.where(np.isnan(kappa), np.inf, kappa)
