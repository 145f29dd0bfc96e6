"""From a name or a path to a data set.

data = load("digits")                      # or "synthetic", or the path of an .npz, an image folder, CIFAR files
data = load("pictures", inputs=(3, 64, 64), split="test")
data = load("clicks.csv.gz", schema="criteo")
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar, get_args

from foresee.data.base import SPLITS, Data
from foresee.data.normalising import Statistics
from foresee.errors import DataError, ForeseeError, InputError, UnknownNameError
from foresee.registry import Registry
from foresee.task import Task

if TYPE_CHECKING:
    from foresee.data.clicks.preprocessing import Preprocessing
    from foresee.data.clicks.schema import Schema

D = TypeVar("D", bound=Data)
#: how image files of other sizes come to the one wanted (see `folders.Images`)
Fit = Literal["stretch", "centre"]


@dataclass(frozen=True)
class Wanted:
    """What the caller of `load` asked for: a task, or parts of one, a size to fit, a split, a normalisation; of a click log
    the schema of its columns, and a preprocessing that was learnt before (or the folder it was saved in).

    Checked when made. With a whole task its parts are `inputs` and `outputs` too, so a reader asks for these alone; what
    is None there is the data's own.
    """

    task: Task | None = None
    resize: tuple[int, int] | None = None
    split: str | None = None
    normalise: bool | Statistics = True
    inputs: tuple[int, ...] | None = None
    outputs: int | None = None
    fit: Fit = "stretch"
    schema: str | Path | Schema | None = None
    preprocessing: str | Path | Preprocessing | None = None

    def __post_init__(self) -> None:
        if self.fit not in get_args(Fit):
            raise UnknownNameError("fit", str(self.fit), get_args(Fit))
        usual = Task()  # a task checks its parts; what is not asked for is checked as it usually is
        stated = Task(
            usual.inputs if self.inputs is None else self.inputs,
            usual.outputs if self.outputs is None else self.outputs,
        )
        if self.inputs is not None:
            object.__setattr__(self, "inputs", stated.inputs)
        if self.task is not None:
            for part in ("inputs", "outputs"):
                own, asked = getattr(self.task, part), getattr(self, part)
                if asked not in (None, own):
                    raise InputError(
                        f"{part} {_shown(asked)} contradict the task's {part} {_shown(own)}: give one of them"
                    )
                object.__setattr__(self, part, own)
        if self.inputs is not None and self.resize is not None and self.inputs[-2:] != self.resize:
            height, width = self.resize
            whose = "inputs" if self.task is None else "task's inputs"
            raise InputError(f"resize {height}x{width} contradicts the {whose} {_shown(self.inputs)}: give one of them")

    @classmethod
    def of(
        cls,
        task: Task | None,
        resize: int | tuple[int, int] | None,
        split: str | None,
        normalise: bool | Statistics,
        inputs: tuple[int, ...] | None = None,
        outputs: int | None = None,
        fit: Fit = "stretch",
        schema: str | Path | Schema | None = None,
        preprocessing: str | Path | Preprocessing | None = None,
    ) -> Wanted:
        """From the forms a user may write: `resize=32` is `(32, 32)`, `split="valid"` is "val"."""
        if isinstance(resize, int):
            resize = (resize, resize)
        if resize is not None and (len(resize) != 2 or any(int(n) != n or n < 1 for n in resize)):
            raise InputError(f"resize {resize}: expected a size such as 32, or a height and a width such as (32, 48)")
        if split is not None and split not in SPLITS:
            raise UnknownNameError("split", split, SPLITS)
        split = None if split is None else SPLITS[split]
        return cls(task, resize, split, normalise, inputs, outputs, fit, schema, preprocessing)

    def shape(self, own: tuple[int, ...]) -> tuple[int, ...]:
        """The shape to hand out, for data that comes as `own`."""
        if self.inputs is not None:
            return self.inputs
        if self.resize is None:
            return own
        if len(own) != 3:
            raise InputError(f"resize: only images (channels, height, width) have a size, not samples of shape {own}")
        return (own[0], *self.resize)

    def fitted(self, own: Task) -> Task:
        """The task to hand data out for, where `own` is what it would be by itself."""
        return self.task or Task(self.shape(own.inputs), self.outputs or own.outputs, own.vocabularies)

    def no_split(self, name: str) -> None:
        """Refuse a split where the data has none."""
        if self.split is not None:
            raise InputError(f"split {self.split!r}: {name} data has no splits; leave it out")

    def no_schema(self, name: str) -> None:
        """Refuse a schema where the data has no columns to describe."""
        for part in ("schema", "preprocessing"):
            if getattr(self, part) is not None:
                raise InputError(
                    f"{part}: only a click log has one (.csv, .tsv, .txt, .parquet), not {name}; leave it out"
                )


@dataclass(frozen=True)
class Format:
    """A kind of file or folder that can be read; `expects` completes the sentence "expected ...".

    Of several that recognise a path, the one with the highest precedence reads it: the most particular one. 20 is for
    those that go by a file's ending, 10 for those that look for files of certain names, 0 for any folder. What is
    `described` takes a schema and a preprocessing.
    """

    name: str
    expects: str
    recognises: Callable[[Path], bool]
    read: Callable[[Path, Wanted], Data]
    precedence: int = 10
    described: bool = False


#: data sets by name
sets: Registry[Callable[[Wanted], Data]] = Registry("data set", group="foresee.data", home="foresee.data")
#: kinds of files and folders
formats: Registry[Format] = Registry("format of data", group="foresee.data_formats", home="foresee.data")


def load(
    reference: str | os.PathLike[str],
    *,
    task: Task | None = None,
    inputs: tuple[int, ...] | None = None,
    outputs: int | None = None,
    resize: int | tuple[int, int] | None = None,
    split: str | None = None,
    normalise: bool | Statistics = True,
    fit: Fit = "stretch",
    schema: str | Path | Schema | None = None,
    preprocessing: str | Path | Preprocessing | None = None,
) -> Data:
    """The data set of this name ("synthetic", "digits"), or at this path.

    A name wins over a path: write `./digits` for a folder called digits. With a `task`, images are fitted to its input
    shape (bilinear; one channel is repeated) and its outputs must hold every label. `inputs` and `outputs` ask for one
    part of a task and leave the rest to the data; `resize` states only a size, and `fit` how image files of other sizes
    come to it: stretched, or the centre cut out. Without a `split`, the training split is taken where there are several.
    A click log is prepared once, by its `schema` ("criteo", "avazu", "kdd2012", a .toml file; guessed where none is given),
    and by a `preprocessing` where one was learnt before.

    >>> load("synthetic").batch(4).inputs.shape
    torch.Size([4, 3, 32, 32])
    """
    wanted = Wanted.of(task, resize, split, normalise, inputs, outputs, fit, schema, preprocessing)
    if task is not None and task.tokens is not None and reference != "synthetic":
        raise InputError(f"tokens {task.tokens}: only synthetic data has token ids (data = synthetic), not {reference}")
    if isinstance(reference, str) and reference in sets:
        wanted.no_schema(reference)
        return sets[reference](wanted)
    if not os.fspath(reference):
        raise InputError(f"data '': expected a path, or one of {', '.join(sets)}")
    with reading(Path(reference), "data"):
        path = Path(reference).expanduser()
        exists = path.exists()
    if not exists:
        if isinstance(reference, str) and path.name == reference and not path.suffix:
            raise UnknownNameError("data set (and no such path)", reference, sets.names())
        raise DataError(f"{path}: no such file or folder; expected data at a path, or one of {', '.join(sets)}")
    kinds = sorted((formats[name] for name in formats), key=lambda kind: -kind.precedence)
    for kind in kinds:
        if kind.recognises(path):
            if not kind.described:
                wanted.no_schema(str(path))
            return kind.read(path, wanted)
    raise DataError(
        f"{path}: not a kind of data that can be read; expected {'; '.join(kind.expects for kind in kinds)}"
    )


def one_split(split: str, there: Collection[str], make: Callable[[str, D | None], D]) -> D:
    """One split of data that comes in several: made like its training split where that is `there`, told of the others.

    `make` gets the name of a split and what it is to be like; data without splits is the split "".
    """
    like = make("train", None) if split not in ("train", "") and "train" in there else None
    data = make(split, like)
    data.splits = tuple(word for word in dict.fromkeys(SPLITS.values()) if word in there)
    return data


@contextmanager
def reading(path: Path, expected: str) -> Iterator[None]:
    """Whatever goes wrong while a stranger's bytes are taken apart becomes one error that names the file."""
    try:
        yield
    except ForeseeError:
        raise
    except Exception as error:  # parsers of damaged files raise nearly anything
        reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise DataError(f"{path}: cannot be read as {expected} ({reason})") from error


def _shown(part: int | tuple[int, ...]) -> str:
    return "x".join(map(str, part)) if isinstance(part, tuple) else str(part)
