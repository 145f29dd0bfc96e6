"""NASRec: networks for click logs, of blocks that mix dense and sparse features; a small and a full set of operators."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, ClassVar

from foresee.checks import whole
from foresee.errors import InputError, UnknownNameError
from foresee.spaces.base import Graph, Space, spaces
from foresee.spaces.counting import Counts
from foresee.spaces.nasrec import network as networks
from foresee.spaces.nasrec.architecture import (
    BINARY_OPS,
    FLAGS,
    GENES,
    Alphabet,
    Architecture,
    Block,
    liveness,
    token,
)
from foresee.spaces.nasrec.one_shot import NASRecOneShot
from foresee.spaces.nasrec.picture import picture
from foresee.task import MANY_ROWS, Task

DENSE_WIDTHS = (16, 32, 64, 128, 256, 512, 768, 1024)
SPARSE_WIDTHS = (16, 32, 48, 64)
SAMPLINGS = ("uniform", "published")
IDENTITIES = ("function", "token")
#: parameters that a network may have beside its embedding tables, where nobody says otherwise: so many for each row to learn
#: from, at least so many, and at most so many where there are fewer rows than that; with more rows one for each
A_ROW, AT_LEAST, MIDDLE = 6, 60_000, 400_000
#: genes of the published mutation: which inputs (macro), and what is done with them (micro)
_MACRO = ("dense_inputs", "sparse_inputs", "left", "right")
_MICRO = ("ops", "dense_width", "sparse_width", *FLAGS)

_CRITEO_SMALL = (
    "linear2d:256@0 linear3d:48@0 interact / dot:1024@1 linear3d:48@0,1 interact fm / "
    "linear2d:128@0,2 linear3d:16@0,1,2 interact / linear2d:16@2 linear3d:48@0,2 fm / "
    "dot:128@0,2,3,4 linear3d:32@2,4 / linear2d:16@0,1,2,5 linear3d:64@1,2,5 interact / "
    "linear2d:1024@0,3,5 linear3d:64@0,1,2,5"
)
_CRITEO_FULL = (
    "gate:128@0 transformer:64@0 interact / dot:32@0 linear3d:64@0 pair@0,1 / "
    "dot:768@1,2 linear3d:32@0,1,2 pair@1,2 fm / gate:768@0,3 linear3d:48@0,1,2,3 pair@2,0 interact / "
    "linear2d:16@0,2,3,4 linear3d:16@0,1,2,3 pair@3,1 fm / linear2d:768@0,3,4,5 transformer:16@1,4 pair@2,3 interact / "
    "linear2d:128@0,2,3 transformer:48@1,3 pair@6,1 fm"
)


@lru_cache(maxsize=64)
def subsets(candidates: int, most: int) -> tuple[tuple[int, ...], ...]:
    """All sets of 1 to `most` of the first `candidates` inputs.

    >>> subsets(2, 4)
    ((0,), (1,), (0, 1))
    """
    counts = range(1, min(most, candidates) + 1)
    return tuple(itertools.chain.from_iterable(itertools.combinations(range(candidates), count) for count in counts))


class NASRec(Space[Architecture]):
    """Both NASRec spaces; they differ in their operators.

    Args:
        blocks: how many choice blocks; published: 7.
        dense_widths: widths of the dense output to choose from, ascending.
        sparse_widths: numbers of tokens of the sparse output to choose from, ascending.
        most_inputs: how many inputs of a kind a block reads at most; published: 4.
        sampling: `uniform` draws each choice uniformly (of inputs: uniformly among all allowed sets), and a mutation
            changes one choice that the block's operators read. `published` draws the number of inputs first, and its
            mutation draws one choice again, which may leave all as it was.
        identity: `function` (architectures that compute the same function are one) or `token` (the published key, in
            which choices that nothing reads count too).
        first_order: networks have a logistic regression beside their blocks, as DeepFM has (not published; one-shot
            networks have none, so it is given to what is trained in the end: a recipe's `first_order`).
    """

    source = "NASRec (Zhang et al., WWW 2023); searched by SiGeo"
    dense_ops: ClassVar[tuple[str, ...]]
    sparse_ops: ClassVar[tuple[str, ...]]

    def __init__(
        self,
        *,
        blocks: int = 7,
        dense_widths: Sequence[int] = DENSE_WIDTHS,
        sparse_widths: Sequence[int] = SPARSE_WIDTHS,
        most_inputs: int = 4,
        sampling: str = "uniform",
        identity: str = "function",
        first_order: bool = False,
    ) -> None:
        for key, value in (("blocks", blocks), ("most_inputs", most_inputs)):
            whole(key, value, of=f"space {self.name}")
        for key, widths in (("dense_widths", dense_widths), ("sparse_widths", sparse_widths)):
            numbers = all(isinstance(width, int) for width in widths)
            if not numbers or not 1 <= len(widths) <= 10 or list(widths) != sorted(set(widths)) or widths[0] < 1:
                raise InputError(f"space {self.name}: {key} {list(widths)}, expected 1 to 10 ascending numbers")
        for key, name, known in (("sampling", sampling, SAMPLINGS), ("identity", identity, IDENTITIES)):
            if name not in known:
                raise UnknownNameError(f"{key} of space {self.name}", str(name), known)
        self.first_order = first_order
        self.blocks, self.most_inputs, self.sampling, self.identity = blocks, most_inputs, sampling, identity
        self.dense_widths, self.sparse_widths = tuple(dense_widths), tuple(sparse_widths)
        self.alphabet = Alphabet(self.dense_ops, self.sparse_ops, self.dense_widths, self.sparse_widths)
        drawn = not BINARY_OPS.isdisjoint(self.dense_ops) or sampling == "published"
        self._genes = tuple(gene for gene in GENES + FLAGS if drawn or gene not in ("left", "right"))

    # -- the set ------------------------------------------------------------------------------------------------------
    def sample(self, rng: random.Random) -> Architecture:
        """Each choice uniformly, or the published way; in the small space nothing reads the pair, and it stays 0, 0."""
        return Architecture(tuple(self._sample_block(number, rng) for number in range(1, self.blocks + 1)))

    def _sample_block(self, number: int, rng: random.Random) -> Block:
        return Block(**{gene: self._draw(gene, number, rng) for gene in self._genes})

    def _draw(self, gene: str, number: int, rng: random.Random) -> Any:
        if gene.endswith("_inputs") and self.sampling == "published":
            count = rng.randint(1, min(self.most_inputs, number))
            return tuple(sorted(rng.sample(range(number), count)))
        return rng.choice(self._options(gene, number))

    def _options(self, gene: str, number: int) -> Sequence[Any]:
        """All values of a gene of block `number`."""
        if gene.endswith("_inputs"):
            return subsets(number, self.most_inputs)
        if gene in ("left", "right"):
            return range(number)
        if gene in FLAGS:
            return (False, True)
        values: Sequence[Any] = getattr(self, f"{gene}s" if gene.endswith("_width") else f"{gene}_ops")
        return values

    def mutate(self, architecture: Architecture, rng: random.Random) -> Architecture:
        """One choice of one block is another; which ones can change by `sampling`."""
        if self.sampling == "published":
            return self._mutate_published(architecture, rng)
        number = rng.randrange(len(architecture.blocks)) + 1
        block = architecture.blocks[number - 1]
        unread = {"dense_inputs"} if block.dense in BINARY_OPS else {"left", "right"}
        genes = [gene for gene in self._genes if gene not in unread and len(self._options(gene, number)) > 1]
        gene = rng.choice(genes)
        others = [value for value in self._options(gene, number) if value != getattr(block, gene)]
        return _with(architecture, number, {gene: rng.choice(others)})

    def _mutate_published(self, architecture: Architecture, rng: random.Random) -> Architecture:
        number = rng.randrange(len(architecture.blocks)) + 1
        gene = rng.choice(_MACRO if rng.random() < 0.5 else _MICRO)
        drawn = ("dense", "sparse") if gene == "ops" else (gene,)
        return _with(architecture, number, {gene: self._draw(gene, number, rng) for gene in drawn})

    def crossover(self, first: Architecture, second: Architecture, rng: random.Random) -> Architecture:
        """Each gene of each block from either parent."""
        child = (
            Block(**{gene: getattr(rng.choice(pair), gene) for gene in GENES + FLAGS})
            for pair in zip(first.blocks, second.blocks, strict=True)
        )
        return Architecture(tuple(child))

    def parse(self, text: str) -> Architecture:
        """Read the text, and check that it lies in this space."""
        architecture = Architecture.parse(text)
        if len(architecture.blocks) != self.blocks:
            raise InputError(f"{len(architecture.blocks)} blocks joined by /, expected {self.blocks}")
        for number, block in enumerate(architecture.blocks, 1):
            for gene in ("dense", "sparse"):
                value, known = getattr(block, gene), self._options(gene, number)
                if value not in known:
                    raise UnknownNameError(f"{gene} operation of block {number} in {self.name}", value, known)
            for gene in ("dense_width", "sparse_width"):
                value, known = getattr(block, gene), self._options(gene, number)
                if value not in known:
                    raise InputError(
                        f"block {number}: {gene.replace('_', ' ')} {value}, expected one of {', '.join(map(str, known))}"
                    )
            for gene in ("dense_inputs", "sparse_inputs"):
                count = len(getattr(block, gene))
                if count > self.most_inputs:
                    raise InputError(
                        f"block {number}: {count} {gene.replace('_', ' ')}, expected at most {self.most_inputs}"
                    )
        return architecture

    @property
    def size(self) -> int:
        """By text: choices that nothing reads count."""
        return self._size(distinct=False)

    @property
    def distinct_size(self) -> int:
        """With choices that the block's operators do not read left out."""
        return self._size(distinct=True)

    def _size(self, *, distinct: bool) -> int:
        binary = len(BINARY_OPS.intersection(self.dense_ops))
        unary = len(self.dense_ops) - binary
        common = len(self.sparse_ops) * len(self.dense_widths) * len(self.sparse_widths) * 4
        total = 1
        for number in range(1, self.blocks + 1):
            sets, pairs = len(subsets(number, self.most_inputs)), number**2
            wiring = unary * sets + binary * pairs if distinct else (unary + binary) * sets * pairs
            total *= sets * wiring * common
        return total

    # -- one architecture ---------------------------------------------------------------------------------------------
    def canonical(self, architecture: Architecture) -> str:
        """The token, by default without what cannot change the function."""
        return token(architecture, self.alphabet, function=self.identity == "function")

    def token(self, architecture: Architecture) -> str:
        """The published key of duplicates: every choice, also those that nothing reads."""
        return token(architecture, self.alphabet)

    def build(self, architecture: Architecture, task: Task) -> networks.Network:
        """The network for a click log of any number of features, called with dense and sparse features."""
        networks.click_log(task, self.name)
        return networks.Network(architecture, task, first_order=self.first_order)

    def counts(self, architecture: Architecture, task: Task) -> Counts:
        """Exact, by formula; the embedding tables included."""
        networks.click_log(task, self.name)
        found = networks.counts(architecture, task) + Counts(networks.embedding_params(task), 0)
        return found + networks.first_order_counts(task) if self.first_order else found

    def nonembedding_params(self, architecture: Architecture, task: Task) -> int:
        """Parameters without the embedding tables: the number that papers print."""
        networks.click_log(task, self.name)
        return networks.counts(architecture, task).params

    def usual_limits(self, task: Task, samples: int) -> dict[str, dict[str, float]]:
        """What networks have at most beside their tables: six parameters a row, or 60,000; of more than 400,000 one
        a row; no limit from four million rows on.

        Scores grow with every layer and do not see how few rows there are. Without a limit a search of a log of ten thousand
        rows ends at networks of four million parameters, which learn it by heart in an epoch and are worse than a logistic
        regression; on folds of training and validation rows three a row are as good as six (Criteo, Avazu), thirty worse
        (Criteo). Of 400,000 rows, seen once, networks of one to three million have not learnt more than single columns.
        """
        if not task.vocabularies or samples >= MANY_ROWS:
            return {}
        most = max(AT_LEAST, min(A_ROW * samples, MIDDLE), samples)
        return {"params": {"max": most + networks.embedding_params(task)}}

    def unused_parameters(self, architecture: Architecture) -> frozenset[str]:
        """Parts of blocks that cannot reach the logit, and the embeddings where nothing reads them."""
        live, embeddings = liveness(architecture)
        dead = {
            f"blocks.{place}.{part}"
            for place, (block, alive) in enumerate(zip(architecture.blocks, live, strict=True))
            for part in ("dense", "sparse", "interact", "fm")
            if getattr(block, part) and not getattr(alive, part)
        }
        return frozenset(dead if embeddings else {*dead, "embeddings"})

    def one_shot(self, task: Task, **options: Any) -> NASRecOneShot:
        """The weight-sharing supernet; there are no options."""
        if options:
            raise InputError(
                f"one-shot network of {self.name}: unknown option {', '.join(sorted(options))}; there are none"
            )
        if self.first_order:
            raise InputError(
                f"one-shot network of {self.name}: there is none with a part of first order; leave first_order out of the "
                "search, the recipe of the training gives it"
            )
        networks.click_log(task, self.name)
        return NASRecOneShot(self.alphabet, self.blocks, self.most_inputs, task)

    def graph(self, architecture: Architecture) -> list[Graph]:
        """One picture of what reaches the logit."""
        return [picture(architecture)]


def _with(architecture: Architecture, number: int, genes: Mapping[str, Any]) -> Architecture:
    blocks = list(architecture.blocks)
    blocks[number - 1] = replace(blocks[number - 1], **genes)
    return Architecture(tuple(blocks))


@spaces.register("nasrec_small")
class NASRecSmall(NASRec):
    """NASRec-Small: linear layers and dot products.

    >>> space = NASRecSmall()
    >>> space.nonembedding_params(space.named["Criteo_Small_best"], criteo_task(1000))
    1784165
    """

    name = "nasrec_small"
    summary = "click logs: 7 blocks of linear layers and dot products, 5e39 architectures"
    dense_ops = ("linear2d", "dot")
    sparse_ops = ("linear3d",)

    @property
    def named(self) -> Mapping[str, Architecture]:
        """The best published network on Criteo."""
        return _fitting(self, {"Criteo_Small_best": _CRITEO_SMALL})


@spaces.register("nasrec_full")
class NASRecFull(NASRec):
    """NASRec-Full: also gating, sums and transformers.

    >>> space = NASRecFull()
    >>> space.nonembedding_params(space.named["Criteo_Full_best"], criteo_task(1000))
    2222323
    """

    name = "nasrec_full"
    summary = "click logs: 7 blocks, also with gates, sums and transformers, 8e43 architectures"
    dense_ops = ("linear2d", "dot", "gate", "sum")
    sparse_ops = ("transformer", "linear3d")

    @property
    def named(self) -> Mapping[str, Architecture]:
        """The best published networks on Criteo (the small one is in this space too)."""
        return _fitting(self, {"Criteo_Full_best": _CRITEO_FULL, "Criteo_Small_best": _CRITEO_SMALL})


def _fitting(space: NASRec, texts: Mapping[str, str]) -> dict[str, Architecture]:
    """Named architectures, as far as they lie in a space of these settings."""
    named = {}
    for name, text in texts.items():
        try:
            named[name] = space.parse(text)
        except InputError:
            continue
    return named


# -- the papers' click logs -------------------------------------------------------------------------------------------
def criteo_task(vocabularies: int | Sequence[int]) -> Task:
    """Criteo: 13 dense and 26 sparse features; one number of values for each sparse one, or the same for all.

    >>> criteo_task(100).inputs, len(criteo_task(100).vocabularies)
    ((13,), 26)
    """
    return _click_task("Criteo", 13, 26, vocabularies)


def avazu_task(vocabularies: int | Sequence[int]) -> Task:
    """Avazu: 1 dense and 23 sparse features."""
    return _click_task("Avazu", 1, 23, vocabularies)


def kdd_task(vocabularies: int | Sequence[int]) -> Task:
    """KDD Cup 2012: 3 dense and 10 sparse features."""
    return _click_task("KDD", 3, 10, vocabularies)


def _click_task(log: str, dense: int, sparse: int, vocabularies: int | Sequence[int]) -> Task:
    rows = (vocabularies,) * sparse if isinstance(vocabularies, int) else tuple(vocabularies)
    if len(rows) != sparse:
        raise InputError(f"{log} has {sparse} sparse features: {len(rows)} vocabularies given")
    return Task((dense,), 1, rows)
