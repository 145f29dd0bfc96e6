"""The weight-sharing supernet of NASRec.

Every block holds all its operations at the greatest width, and reads all earlier outputs; an input that is not selected is
left out of the sums (which is what zeros in its place would give), a smaller width is a 0/1 mask on the features after
norm and activation. Choices of block i: `i.dense.k` and `i.sparse.k` (read input k: off, on), `i.dense_op`, `i.sparse_op`,
`i.dense_width`, `i.sparse_width`, `i.interact`, `i.fm` (off, on) and, where operations read them, `i.left` and `i.right`.

A path is *not* the stand-alone network exactly, by the design of the published supernet:

- layer norms take their statistics over the full width here, over the chosen width there;
- attention sees masked tokens here, which are absent there;
- the dot product multiplies the tokens of the greatest width here, fewer there;
- a layer between equal widths is left out there, never here;
- `sum` of two different inputs multiplies each with its own columns here, both with the same columns there.

Where all widths are the greatest, no layer is left out, and `sum` has one input twice, both are equal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor, nn

from foresee.errors import UnsupportedError
from foresee.spaces.nasrec.architecture import BINARY_OPS, FLAGS, Alphabet, Architecture, Block
from foresee.spaces.nasrec.layers import EMBEDDING, INTERACT_TOKENS, Split, Wide
from foresee.spaces.nasrec.network import Embeddings, Network, click_log
from foresee.spaces.nasrec.wide import Pass, WideBlock
from foresee.spaces.one_shot import Choice, OneShot, one_hot, share
from foresee.spaces.weighing import Weights
from foresee.task import Task

SWITCH = ("off", "on")


class NASRecOneShot(OneShot[Architecture]):
    """The supernet; call it like a network, `one_shot(dense, sparse)`.

    Args:
        alphabet: operations and widths of the space, widths ascending.
        blocks: how many blocks.
        most_inputs: how many inputs of a kind `derive` selects at most.
        task: a click log.
    """

    prefixes_dense: Tensor
    prefixes_sparse: Tensor

    def __init__(self, alphabet: Alphabet, blocks: int, most_inputs: int, task: Task) -> None:
        pairs = not BINARY_OPS.isdisjoint(alphabet.dense_ops)
        super().__init__([choice for number in range(1, blocks + 1) for choice in _choices(number, alphabet, pairs)])
        self.options = {choice.name: choice.options for choice in self.choices}
        self.most_inputs, self.task = most_inputs, task
        features, tables = click_log(task, "nasrec")
        width, tokens = alphabet.dense_widths[-1], alphabet.sparse_widths[-1]
        dense = [features, *[width] * blocks]
        sparse = [tables, *[tokens, INTERACT_TOKENS] * blocks]
        self.embeddings = Embeddings(task.vocabularies)
        self.blocks = nn.ModuleList(
            WideBlock(dense[:number], sparse[: 2 * number - 1], alphabet) for number in range(1, blocks + 1)
        )
        self.head = Wide([width, EMBEDDING * tokens, EMBEDDING * INTERACT_TOKENS], task.outputs, bias=True)
        self.register_buffer("prefixes_dense", prefixes(alphabet.dense_widths), persistent=False)
        self.register_buffer("prefixes_sparse", prefixes(alphabet.sparse_widths), persistent=False)

    def forward(self, dense: Tensor, sparse: Tensor) -> Tensor:
        """Dense features (B, n) and indices of sparse features (B, m) to logits (B, outputs), by the present weights."""
        run = Pass(self, dense, sparse)
        last = len(self.blocks)
        parts = [run.dense(last), *(None if part is None else part.flatten(1) for part in run.sparse(last))]
        logits: Tensor = self.head(parts)
        return logits

    def block(self, number: int) -> WideBlock:
        """Block `number`, from 1."""
        block = self.blocks[number - 1]
        assert isinstance(block, WideBlock)
        return block

    # -- weights and architectures ------------------------------------------------------------------------------------
    def path(self, architecture: Architecture) -> dict[str, Tensor]:
        """One-hot weights; `on` for the inputs that are read."""
        return {
            choice.name: one_hot(choice.options.index(_option(architecture, choice.name)), len(choice.options))
            for choice in self.choices
        }

    def derive(self, weights: Weights) -> Architecture:
        """The greatest weight of each choice; of inputs all that are rather on than off, at least one, at most the cap."""
        plain = {name: vector.detach().tolist() for name, vector in weights.items()}
        best = {
            choice.name: choice.options[max(range(len(choice.options)), key=plain[choice.name].__getitem__)]
            for choice in self.choices
        }

        def inputs(number: int, kind: str) -> tuple[int, ...]:
            on = {read: plain[f"{number}.{kind}.{read}"][-1] for read in range(number)}
            ranked = sorted(on, key=lambda read: -on[read])[: self.most_inputs]
            chosen = [read for read in ranked if best[f"{number}.{kind}.{read}"] == "on"]
            return tuple(sorted(chosen or ranked[:1]))

        return Architecture(
            tuple(
                Block(
                    dense=best[f"{number}.dense_op"],
                    dense_width=int(best[f"{number}.dense_width"]),
                    dense_inputs=inputs(number, "dense"),
                    sparse=best[f"{number}.sparse_op"],
                    sparse_width=int(best[f"{number}.sparse_width"]),
                    sparse_inputs=inputs(number, "sparse"),
                    left=int(best.get(f"{number}.left", "0")),
                    right=int(best.get(f"{number}.right", "0")),
                    interact=best[f"{number}.interact"] == "on",
                    fm=best[f"{number}.fm"] == "on",
                )
                for number in range(1, len(self.blocks) + 1)
            )
        )

    def inherit(self, architecture: Architecture) -> Network:
        """The stand-alone network; its parameters are slices of the supernet's.

        A linear layer over several inputs is held as one layer per input (`Split`), because their columns are not
        neighbours here. See the module's text for where the outputs differ from the path's.
        """
        with torch.device("meta"):
            network = Network(architecture, self.task, Split)
        sources = {}
        for name, parameter in network.named_parameters():
            source = self._source(name, architecture)
            corner = source[tuple(slice(size) for size in parameter.shape)]
            if corner.shape != parameter.shape:
                raise UnsupportedError(
                    f"{name}: the raw input is wider ({self.task.inputs[0]}) than any block, and the supernet has no "
                    f"weights for padding it; give widths of at least {self.task.inputs[0]}"
                )
            sources[name] = source if corner.shape == source.shape else corner
        share(network, sources)
        return network

    def _source(self, name: str, architecture: Architecture) -> Tensor:
        """The tensor here of which the parameter `name` of the stand-alone network is the first corner."""
        words = name.split(".")
        reads: Sequence[int] = range(3)
        if words[0] == "blocks":
            block, kind = architecture.blocks[int(words[1])], words[2]
            if kind in ("dense", "sparse"):
                words.insert(3, getattr(block, kind))
            if kind == "dense" and block.dense in BINARY_OPS and "norm" not in words:
                return self._window(self.get_parameter(".".join(words)), words, block, architecture)
            reads = block.dense_inputs if kind == "dense" and words[4] != "sparse" else _pieces(block, architecture)
        if "pieces" in words:
            layer = self.get_submodule(".".join(words[: words.index("pieces")]))
            assert isinstance(layer, Wide)
            return layer.weight[:, layer.spans[reads[int(words[-2])]]]
        return self.get_parameter(".".join(words))

    def _window(self, tensor: Tensor, words: Sequence[str], block: Block, architecture: Architecture) -> Tensor:
        """Weights of `gate` and `sum` from the place of the inputs they read; what pads the narrower lies behind it."""
        layer = self.get_submodule(".".join([*words[:4], "linear"]))
        assert isinstance(layer, Wide)
        left, right = layer.spans[block.left].start, layer.spans[block.right].start
        if words[4] == "gate":
            return tensor[right:, left:] if words[5] == "weight" else tensor[right:]
        if words[5] == "bias":
            return tensor
        if block.dense == "sum":  # both sides are multiplied with the columns of the wider one
            widths = [self.task.inputs[0], *(other.dense_width for other in architecture.blocks)]
            return tensor[:, left if widths[block.left] >= widths[block.right] else right :]
        return tensor[:, right:]


def prefixes(widths: Sequence[int]) -> Tensor:
    """A row per width: ones, then zeros, up to the greatest.

    >>> prefixes((1, 3))
    tensor([[1., 0., 0.],
            [1., 1., 1.]])
    """
    return (torch.arange(widths[-1]) < torch.tensor(widths).unsqueeze(1)).float()


def _pieces(block: Block, architecture: Architecture) -> list[int]:
    """Where the parts of the sparse inputs lie among the supernet's: raw, then tokens and interact of each block."""
    pieces = []
    for read in block.sparse_inputs:
        pieces.append(max(2 * read - 1, 0))
        if read and architecture.blocks[read - 1].interact:
            pieces.append(2 * read)
    return pieces


def _choices(number: int, alphabet: Alphabet, pairs: bool) -> Iterator[Choice]:
    """The choices of block `number`; one without alternative has a single option."""
    switch = SWITCH if number > 1 else SWITCH[1:]
    for kind in ("dense", "sparse"):
        yield from (Choice(f"{number}.{kind}.{read}", switch) for read in range(number))
    if pairs:
        yield from (Choice(f"{number}.{side}", tuple(map(str, range(number)))) for side in ("left", "right"))
    yield Choice(f"{number}.dense_op", alphabet.dense_ops)
    yield Choice(f"{number}.sparse_op", alphabet.sparse_ops)
    yield Choice(f"{number}.dense_width", tuple(map(str, alphabet.dense_widths)))
    yield Choice(f"{number}.sparse_width", tuple(map(str, alphabet.sparse_widths)))
    yield from (Choice(f"{number}.{flag}", SWITCH) for flag in FLAGS)


def _option(architecture: Architecture, choice: str) -> str:
    """What an architecture has chosen."""
    number, gene, *read = choice.split(".")
    block = architecture.blocks[int(number) - 1]
    if read:
        return SWITCH[int(read[0]) in getattr(block, f"{gene}_inputs")]
    value = getattr(block, gene.removesuffix("_op"))
    return SWITCH[value] if gene in FLAGS else str(value)
