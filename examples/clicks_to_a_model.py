"""From a click log in a CSV file to a trained recommender that answers for new rows: look, confirm, search, train, serve.

The log is made here, with planted interactions and a known best, so that the example runs anywhere; put the path of yours in
its place.
"""

import tempfile
from pathlib import Path

import torch

import foresee as fs
from foresee.data.clicks.guessing.guess import guess
from foresee.data.clicks.made.generating import generated
from foresee.data.clicks.preparing.prepare import prepare
from foresee.data.clicks.profile.profiling import profile


def main() -> None:
    place = Path(tempfile.mkdtemp())
    made = generated(place / "clicks.csv", 60_000, malformed=0.001)

    # What the columns are is guessed, with a reason for each. Look it through, edit the file, and it is the schema.
    found = guess(made.path)
    print(found)
    schema = place / "clicks.toml"
    schema.write_text(found.to_toml())

    # What is in the file: one pass, whatever its size; malformed rows are counted and named, and stop nothing.
    told = profile(made.path, schema)
    print(f"{told.rows:,} rows, {100 * told.rate:.1f} % clicked")
    print(f"{told.malformed} malformed rows, the first in line {told.named[0].line}: {told.named[0].reason}")

    # Prepared once: vocabularies and statistics of the training rows, then arrays that an epoch reads at the disk's speed.
    ready = str(prepare(made.path, schema, place / "ready"))

    # A supernet is warmed up on a little of the log, and SiGeo looks at networks that inherit from it; the best two are
    # trained. The recipe is that of small logs, made short for this example.
    recipe = fs.recipe("ctr_small", epochs=2, lr=5e-3)
    run = fs.search(
        "nasrec_small",
        ["sigeo"],
        space_settings={"blocks": 2, "dense_widths": [32, 64], "sparse_widths": [8, 16]},
        data=ready,
        warmup="1%",
        evaluations=6,
        finalists=0,
        train_best=2,
        recipe=recipe,
        out=place / "run",
    )
    best = run.trained.best
    print(f"best {best.candidate.architecture}")

    # On rows that nobody has learnt from, beside a regression on the single columns, and beside what is possible at all.
    plain = fs.train("logistic", ready, recipe)
    print(f"found:    log loss {best.trained.test.loss:.4f}, AUC {best.trained.test.auc:.4f}")
    print(f"logistic: log loss {plain.test.loss:.4f}, AUC {plain.test.auc:.4f}")
    print(f"the best: log loss {made.log_loss:.4f}, AUC {made.auc:.4f}")

    # A new row is encoded as the training rows were; what it says of sellers and sites that were never seen is no harm.
    row = {"price": "12.50", "views": 40, "visits": None, "age_days": 12, "stock": 3, "rank": 7, "visitor": "9e3779b1"}
    row |= {"item": "3c6ef362", "seller": "new", "category": None, "site": "new", "campaign": "b54cda26"}
    batch = best.trained.preprocessing.rows([row | {"device": "phone", "place": "top"}])
    network = best.trained.network.eval()
    with torch.no_grad():
        print(f"chance of a click: {100 * torch.sigmoid(network(*batch.parts)).item():.1f} %")


if __name__ == "__main__":
    main()
