from __future__ import annotations

import pytest
from tests.papers.made_up import SIZES, TRUTH


@pytest.fixture
def tables(tmp_path):
    """Two tables of the size space, the second fuller, and a file that is none."""
    for name, count in (("few", 3), ("many", 5)):
        rows = [f"{place},{SIZES[place]},{TRUTH[place]}" for place in range(count)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["index,channels,val_acc_cifar10", *rows]) + "\n")
    (tmp_path / "notes.txt").write_text("not a table\n")
    return tmp_path


@pytest.fixture(scope="session")
def chapter(tmp_path_factory):
    """A folder that the tables of thesis chapter 5 share, as they do for people: what one made is there for the next."""
    return tmp_path_factory.mktemp("chapter")
