"""Guessing is tried on logs of many shapes: rows that are made here, in the columns of advertisers we have no rows of."""

from __future__ import annotations

import csv
import gzip
import hashlib
import os
import random
from pathlib import Path

import pytest

from foresee.data.clicks.guessing.guess import Guess, guess
from foresee.data.clicks.made.generating import generated
from foresee.data.clicks.profile.profiling import profile
from foresee.data.clicks.reading.streaming import chunks
from foresee.data.clicks.schema import schema
from foresee.errors import DataError, ForeseeError, InputError, UnknownNameError

REAL = Path(os.environ.get("FORESEE_DATA", Path(__file__).parents[5] / "shared" / "data")) / "ctr"
rng = random.Random(0)


def hashed(text, length=8):
    return hashlib.md5(str(text).encode()).hexdigest()[:length]


def zipf(size):
    return min(int(rng.paretovariate(0.7)), size)


def write(path, header, rows, delimiter=",", **more):
    with path.open("w", newline="", encoding="utf-8") as file:
        made = csv.writer(file, delimiter=delimiter, **more)
        if header:
            made.writerow(header)
        made.writerows(rows)
    return path


def roles(found: Guess) -> dict[str, str]:
    return {one.name: one.role for one in found.columns}


def taken(path, **more) -> tuple[dict[str, str], Guess]:
    found = guess(path, **more)
    assert all(one.reason for one in found.columns)
    assert schema(_written(path, found)) == found.schema
    assert profile(path, found.schema).malformed == 0  # the guess reads every row
    return roles(found), found


def _written(path, found):
    file = path.with_name(f"{found.schema.name}.toml")
    file.write_text(found.to_toml(), encoding="utf-8")
    return file


# -- real rows ------------------------------------------------------------------------------------------------------------
@pytest.mark.skipif(not REAL.is_dir(), reason="the real rows are not here (FORESEE_DATA)")
@pytest.mark.parametrize("named", [True, False])
def test_the_columns_of_criteo(named):
    found = guess(REAL / "criteo_kaggle_12k.csv.gz", 4000, named=named)
    published = schema("criteo")
    assert (found.schema.label, set(found.schema.numeric)) == ("label", set(published.numeric))
    assert set(found.schema.categories) == set(published.categories)
    assert roles(found)["Id"] == "left out"
    assert roles(found)["split"] == "left out" if not named else True


@pytest.mark.skipif(not REAL.is_dir(), reason="the real rows are not here (FORESEE_DATA)")
def test_the_columns_of_avazu_are_all_categories():
    found = guess(REAL / "avazu_kaggle.csv.gz", named=False)
    assert found.schema.label == "click"
    assert found.schema.numeric == ()
    assert set(found.schema.categories) == set(schema("avazu").categories) - {"hour_of_day", "weekday"}
    assert found.schema.split["column"] == "split"
    assert guess(REAL / "avazu_kaggle.csv.gz", 2000).schema.name == "avazu"


@pytest.mark.skipif(not REAL.is_dir(), reason="the real rows are not here (FORESEE_DATA)")
def test_the_columns_of_the_census():
    found = guess(REAL / "adult_census.csv.gz", 4000)
    assert (found.schema.label, found.schema.positive) == ("income", (">50K",))
    assert set(found.schema.numeric) == {
        "age", "fnlwgt", "education_num", "capital_gain", "capital_loss", "hours_per_week",
    }  # fmt: skip
    assert len(found.schema.categories) == 8
    assert not found.warnings


# -- made in the forms that are published ---------------------------------------------------------------------------------
@pytest.mark.parametrize("form", ["criteo", "avazu", "kdd2012"])
def test_a_published_form_is_recognised_without_being_named(form, tmp_path):
    made = generated(tmp_path / "log.txt", 2000, form=form, malformed=0.01)
    found = guess(made.path)
    assert found.schema == schema(form)
    assert {one.role for one in found.columns} >= {"label", "category"}


def test_our_own_log_is_read_as_it_was_made(tmp_path):
    found = guess(generated(tmp_path / "clicks.csv", 3000).path)
    assert found.schema.numeric == ("price", "views", "visits", "age_days", "stock", "rank")
    assert found.schema.categories == (
        "visitor", "item", "seller", "category", "site", "campaign", "device", "place",
    )  # fmt: skip


# -- in the forms of others -----------------------------------------------------------------------------------------------
def test_a_log_of_bids(tmp_path):
    """Tab-separated, times to the millisecond, hashes, addresses, sizes, a price that is paid, lists of tags."""
    names = ["click", "weekday", "hour", "bidid", "timestamp", "logtype", "ipinyouid", "useragent", "IP", "region", "city",
             "adexchange", "domain", "slotid", "slotwidth", "slotheight", "slotvisibility", "slotprice", "creative",
             "payprice", "advertiser", "usertag"]  # fmt: skip
    rows = [
        [
            int(rng.random() < 0.15), rng.randrange(7), f"{rng.randrange(24):02}", hashed(("bid", k), 32),
            f"201306{rng.randrange(10, 28)}{rng.randrange(24):02}{rng.randrange(10, 60)}30{rng.randrange(100, 999)}",
            1, hashed(zipf(500), 32), rng.choice(["windows_ie", "android_chrome", "mac_safari"]),
            f"118.{rng.randrange(99)}.*", rng.randrange(1, 395), rng.randrange(1, 395), rng.randrange(1, 4),
            hashed(zipf(90)), f"mm_{zipf(300)}", rng.choice([300, 728, 160]), rng.choice([250, 90, 60]), rng.randrange(3),
            rng.choice([0, 5, 10, 50]), hashed(zipf(60), 32), int(rng.expovariate(0.02)), 1458,
            ",".join(str(10000 + zipf(90)) for _ in range(3)),
        ]
        for k in range(1500)
    ]  # fmt: skip
    there, found = taken(write(tmp_path / "bids.tsv", names, rows, "\t"))
    assert there["click"] == "label"
    assert there["timestamp"] == "time"
    assert {there[name] for name in ("bidid", "logtype", "advertiser")} == {"left out"}
    assert {there[name] for name in ("slotprice", "payprice")} == {"number"}
    codes = ("weekday", "hour", "ipinyouid", "IP", "region", "city", "adexchange", "slotid", "creative", "usertag")
    assert {there[name] for name in codes} == {"category"}
    assert found.schema.derived["timestamp_hour"]["format"] == "%Y%m%d%H%M%S%f"


def test_a_log_of_recommended_pages(tmp_path):
    rows = [[k // 4 + 1, 40_000 + zipf(3000) * 7, int(rng.random() < 0.2)] for k in range(2000)]
    there, found = taken(write(tmp_path / "pages.csv", ["display_id", "ad_id", "clicked"], rows))
    assert there == {"display_id": "category", "ad_id": "category", "clicked": "label"}
    assert found.schema.positive == ("1",)


def test_a_log_with_the_label_and_its_opposite(tmp_path):
    rows = []
    for _ in range(2000):
        click = int(rng.random() < 0.1)
        rows.append([zipf(9000), 1494000000 + rng.randrange(700_000), zipf(5000), "430548_1007", 1 - click, click])
    there, found = taken(
        write(tmp_path / "shop.csv", ["user", "time_stamp", "adgroup_id", "pid", "nonclk", "clk"], rows)
    )
    assert there == {
        "user": "category", "time_stamp": "time", "adgroup_id": "category", "pid": "left out", "nonclk": "left out",
        "clk": "label",
    }  # fmt: skip
    assert any(warning.startswith("nonclk") for warning in found.warnings)
    assert found.schema.derived["time_stamp_weekday"] == {"from": "time_stamp", "take": "weekday", "format": "unix"}
    assert found.schema.time == "time_stamp"


def test_a_log_of_attributed_installs_leaks_by_what_is_missing(tmp_path):
    rows = []
    for k in range(2000):
        yes = rng.random() < 0.1
        day = f"2017-11-0{1 + k % 7} {rng.randrange(24):02}:00:{k % 60:02}"
        rows.append(
            [zipf(3000) + 80_000, zipf(300), zipf(20), zipf(50), 100 + zipf(200), day, day if yes else "", int(yes)]
        )
    names = ["ip", "app", "device", "os", "channel", "click_time", "attributed_time", "is_attributed"]
    there, found = taken(write(tmp_path / "installs.csv", names, rows))
    assert there["attributed_time"] == "left out"
    assert there["click_time"] == "time"
    assert {there[name] for name in ("ip", "app", "device", "os", "channel")} == {"category"}
    assert "missing tells 100 %" in found.warnings[0]


def test_semicolons_decimal_commas_and_quotes(tmp_path):
    rows = [
        [f"{k};x" if k % 7 == 0 else str(k), f"{rng.uniform(1, 90):.2f}".replace(".", ","), f"{rng.randrange(99999):05}",
         rng.choice(["Elektronik > Handys", "Mode > Damen, Schuhe", "Heim"]), rng.choice(["ja", "nein", "nein"])]
        for k in range(600)
    ]  # fmt: skip
    path = write(tmp_path / "laden.csv", ["Nr", "Preis", "PLZ", "Kategorie", "geklickt"], rows, ";")
    there, found = taken(path)
    assert there["PLZ"] == "category"
    assert there["Kategorie"] == "category"
    assert there["geklickt"] == "label"
    assert found.schema.delimiter == ";"
    assert found.schema.positive == ("ja",)
    assert there["Preis"] == "number"
    assert found.schema.decimal_commas == ("Preis",)
    (chunk,) = chunks(path, found.schema)
    assert chunk.malformed_count == 0
    assert chunk.numbers["Preis"].tolist() == [float(row[1].replace(",", ".")) for row in rows]
    # one that is written otherwise is told with its line
    rows[4][1] = "3.5"
    write(path, ["Nr", "Preis", "PLZ", "Kategorie", "geklickt"], rows, ";")
    (chunk,) = chunks(path, found.schema)
    assert [(one.line, one.reason) for one in chunk.malformed] == [
        (6, "Preis is '3.5': not a number with a decimal comma")
    ]
    assert "3.5" in guess(path).warnings[0]
    # and where nobody said that there are such, the message does
    (chunk,) = chunks(path, found.schema.but(decimal_commas=None))
    assert "decimal_commas = [...]" in chunk.malformed[0].reason


def test_a_byte_order_mark_long_ids_lists_and_a_time_that_only_clicks_have(tmp_path):
    rows = []
    for k in range(600):
        yes, user, seen = rng.random() < 0.3, zipf(40), f"2024-05-{1 + k % 28:02}T{k % 24:02}:10:00Z"
        keywords = str(rng.sample(["shoes", "sale", "kids"], 2)).replace("'", '"')
        rows.append([10**29 + k, seen, 10**29 + user, keywords, f"{rng.random():.3f}", "EUR", seen if yes else "", yes])
    names = ["impression_id", "shown_at", "user", "keywords", "bid", "currency", "click_time", "is_clicked"]
    path = write(tmp_path / "ads.csv", names, rows)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    there, found = taken(path)
    assert [there[name] for name in names] == [
        "left out", "time", "category", "category", "number", "left out", "left out", "label"
    ]  # fmt: skip
    assert found.schema.positive == ("True",)
    assert next(one.reason for one in found.columns if one.name == "keywords").startswith("lists")
    assert found.warnings[0].startswith("click_time is left out: where it is missing tells 100 %")
    (chunk,) = chunks(path, found.schema)
    assert chunk.malformed_count == 0
    assert len(set(chunk.keys["user"].tolist())) == len({row[2] for row in rows})


@pytest.mark.parametrize(
    ("no", "yes"), [("no", "yes"), ("False", "True"), ("-1", "1"), ("0.0", "1.0"), ("n", "y"), ("<=50K", ">50K")]
)
def test_what_means_yes(no, yes, tmp_path):
    rows = [[rng.random(), "ab"[k % 2], yes if rng.random() < 0.6 else no] for k in range(400)]
    found = guess(write(tmp_path / "a.csv", ["score", "kind", "target"], rows))
    assert (found.schema.positive, found.schema.negative) == ((yes,), (no,))
    assert found.schema.answer(yes) is True
    assert found.schema.answer(no) is False


def test_the_rarer_value_means_yes_where_nothing_else_tells(tmp_path):
    rows = [[rng.random(), "good" if rng.random() < 0.8 else "bad"] for _ in range(400)]
    found = guess(write(tmp_path / "a.csv", ["amount", "class"], rows))
    assert found.schema.positive == ("bad",)
    assert "rarer" in found.columns[1].reason


def test_actions_of_several_kinds(tmp_path):
    rows = [[zipf(900), zipf(4000), rng.choice(["pv", "pv", "pv", "fav", "cart", "buy"])] for _ in range(800)]
    found = guess(write(tmp_path / "a.csv", ["user_id", "item_id", "behavior_type"], rows))
    assert found.schema.label == "behavior_type"
    assert found.schema.positive == ("buy",)
    assert set(found.schema.negative) == {"pv", "fav", "cart"}


def test_a_file_without_names(tmp_path):
    rows = [[int(rng.random() < 0.3), rng.random(), hashed(zipf(40)), int(rng.expovariate(0.05))] for _ in range(900)]
    there, found = taken(write(tmp_path / "a.txt", None, rows, "|"))
    assert there == {"column_1": "label", "column_2": "number", "column_3": "category", "column_4": "number"}
    assert found.schema.columns == ("column_1", "column_2", "column_3", "column_4")
    assert found.schema.delimiter == "|"


def test_families_are_judged_together(tmp_path):
    rows = [
        [int(rng.random() < 0.5), *(int(rng.expovariate(0.02)) for _ in range(3)), min(int(rng.expovariate(0.5)), 9)]
        for _ in range(1500)
    ]
    there, _ = taken(write(tmp_path / "a.csv", ["y", "f1", "f2", "f3", "f4"], rows))
    assert set(there.values()) == {"label", "number"}


def test_two_outcomes_are_one_too_many_and_the_other_is_left_out(tmp_path):
    rows = [[zipf(90), int(rng.random() < 0.3), int(rng.random() < 0.1)] for _ in range(500)]
    path = write(tmp_path / "a.csv", ["user", "click", "conversion"], rows)
    with pytest.raises(
        DataError, match=r"several columns may be the label: click .* and conversion .*--label.*--schema"
    ):
        guess(path)
    there, found = taken(path, label="click")
    assert there == {"user": "category", "click": "label", "conversion": "left out"}
    assert "--label conversion" in found.warnings[0]


def test_no_label_at_all(tmp_path):
    rows = [[k, rng.random(), zipf(50)] for k in range(300)]
    path = write(tmp_path / "a.csv", ["a", "b", "c"], rows)
    with pytest.raises(DataError, match=r"no column of two values.*--label.*There are a, b, c"):
        guess(path)
    with pytest.raises(UnknownNameError, match="column of"):
        guess(path, label="bb")
    with pytest.raises(InputError, match=r"has .* values.*positive"):
        guess(path, label="b")


def test_a_number_that_orders_rows_by_the_label_is_named(tmp_path):
    rows = []
    for _ in range(900):
        yes = rng.random() < 0.2
        rows.append([int(yes), (5 if yes else 0) + rng.random(), zipf(30)])
    there, found = taken(write(tmp_path / "a.csv", ["click", "seconds_on_page", "site"], rows))
    assert there["seconds_on_page"] == "left out"
    assert "seconds_on_page" in found.warnings[0]


def test_rows_sorted_by_label_are_seen_from_all_over_the_file(tmp_path):
    rows = [[f"u{zipf(99)}", rng.random(), int(k >= 15_000)] for k in range(20_000)]
    found = guess(write(tmp_path / "a.csv", ["user", "price", "click"], rows), 2000)
    assert found.schema.label == "click"
    assert found.schema.negative == ("0",)


@pytest.mark.parametrize("content", [b"", b"\n\n\n", b"just words\nand more\n", b"a,b,c\n", b"\x00\x01\x02" * 99])
def test_no_table(content, tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    with pytest.raises(ForeseeError, match=r"a\.csv|label"):
        guess(path)


def test_paths_that_are_no_file(tmp_path):
    with pytest.raises(DataError, match="no such file"):
        guess(tmp_path / "nothing.csv")
    with pytest.raises(DataError, match="is no file"):
        guess(tmp_path)
    broken = tmp_path / "a.csv.gz"
    broken.write_bytes(gzip.compress(b"a,b\n" * 9000)[:-20])
    with pytest.raises(DataError, match=r"a\.csv\.gz"):
        guess(broken)


def test_parquet_is_guessed_as_the_same_table_in_text_is(tmp_path):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rows = [
        (rng.random() < 0.3, rng.random(), zipf(40), f"2024-03-{1 + k % 28:02} 10:{k % 60:02}:00") for k in range(900)
    ]
    clicked, price, site, seen = map(list, zip(*rows, strict=True))
    table = pa.table({"clicked": clicked, "price": price, "site_id": site, "seen_at": seen})
    parquet.write_table(table, tmp_path / "a.parquet", row_group_size=100)
    write(tmp_path / "b.csv", ["clicked", "price", "site_id", "seen_at"], [[int(row[0]), *row[1:]] for row in rows])
    typed, text = guess(tmp_path / "a.parquet"), guess(tmp_path / "b.csv")
    assert typed.schema.but(name="") == text.schema.but(name="")
    assert roles(guess(tmp_path / "a.parquet", 160)) == roles(typed)


def test_numbers_that_are_mostly_numbers_are_said(tmp_path):
    rows = [[int(rng.random() < 0.3), "oops" if k == 77 else rng.random()] for k in range(900)]
    found = guess(write(tmp_path / "a.csv", ["click", "price"], rows))
    assert "'oops'" in found.warnings[0]


@pytest.mark.parametrize(("no", "yes"), [("0", "1"), ("shown", "bought")])
def test_a_malformed_label_here_and_there_is_overlooked(no, yes, tmp_path):
    rows = [[zipf(40), "oops" if k in (7, 800) else yes if k % 9 == 0 else no] for k in range(1000)]
    found = guess(write(tmp_path / "a.csv", ["site", "click"], rows))
    assert (found.schema.positive, found.schema.negative) == ((yes,), (no,))


def test_a_log_with_words_for_names(tmp_path):
    names = ["Daily Time Spent on Site", "Age", "Area Income", "Ad Topic Line", "City", "Male", "Country", "Timestamp"]
    rows = [
        [f"{rng.uniform(30, 90):.2f}", rng.randrange(19, 61), f"{rng.uniform(2e4, 8e4):.2f}", f"Line number {k} of all",
         f"City {rng.randrange(700)}", rng.randrange(2), f"Country {zipf(200)}", f"2016-03-{1 + k % 28:02} {k % 24:02}:53:11",
         rng.randrange(2)]
        for k in range(800)
    ]  # fmt: skip
    there, found = taken(write(tmp_path / "ads.csv", [*names, "Clicked on Ad"], rows))
    assert there["Clicked on Ad"] == "label"
    assert (there["Ad Topic Line"], there["Timestamp"], there["Male"]) == ("left out", "time", "category")
    assert found.schema.numeric == ("Daily Time Spent on Site", "Age", "Area Income")


def test_a_campaign_by_telephone(tmp_path):
    """Semicolons, all words in quotes, a label called y beside other columns of yes and no."""
    rows = [
        [rng.randrange(18, 90), rng.choice(["admin.", "services", "retired"]), rng.choice(["no", "no", "yes"]),
         round(rng.gauss(1400, 900)), rng.choice(["yes", "no"]), rng.choice(["may", "jun", "jul"]),
         int(rng.expovariate(0.005)), rng.choice([-1, -1, 87, 181]), rng.choice(["no", "no", "no", "yes"])]
        for _ in range(900)
    ]  # fmt: skip
    names = ["age", "job", "default", "balance", "housing", "month", "duration", "pdays", "y"]
    there, found = taken(write(tmp_path / "bank.csv", names, rows, ";", quoting=csv.QUOTE_NONNUMERIC))
    assert (there["y"], there["default"], there["housing"]) == ("label", "category", "category")
    assert found.schema.numeric == ("age", "balance", "duration")
    assert found.schema.positive == ("yes",)


def test_behaviour_without_names(tmp_path):
    rows = [
        [zipf(9000), zipf(40_000), zipf(900), rng.choice(["pv", "pv", "pv", "fav", "buy"]), 1511544070 + k]
        for k in range(900)
    ]
    there, found = taken(write(tmp_path / "behaviour.csv", None, rows))
    assert there["column_4"] == "label"
    assert found.schema.positive == ("buy",)


def test_words_for_no_value_among_numbers(tmp_path):
    rows = [
        [rng.choice(["yes", "no"]), rng.choice(["1.5", "0.25", "n/a", "NULL"]), rng.choice(["a", "b", "n/a"])]
        for _ in range(400)
    ]
    path = write(tmp_path / "words.csv", ["clicked", "price", "site"], rows)
    there, found = taken(path)
    assert there == {"clicked": "label", "price": "number", "site": "category"}
    assert set(found.schema.missing) - set(schema("criteo").missing) == {"n/a"}


def test_a_column_that_is_named_twice_is_told(tmp_path):
    rows = [[rng.choice("01"), rng.random(), rng.choice("xyz")] for _ in range(400)]
    there, found = taken(write(tmp_path / "twice.csv", ["clicked", "a", "a"], rows))
    assert there == {"clicked": "label", "a": "number"}
    assert "a second column 'a' is left out: rename it in the file to use it" in found.warnings


def test_lists_of_a_parquet_file(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    n = 400
    columns = {
        "click": [k % 3 == 0 for k in range(n)],
        "tags": [["a", "b"][: k % 3] for k in range(n)],
        "device": [{"os": rng.choice(["ios", "android"])} for _ in range(n)],
    }
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    there, _ = taken(tmp_path / "a.parquet")
    assert there["device"] == "category"
    [chunk] = chunks(tmp_path / "a.parquet", schema({"label": "click", "categories": ["tags"]}))
    assert [chunk.texts["tags"][row] for row in range(3)] == ["[]", '["a"]', '["a","b"]']


def test_a_log_of_a_bandit(tmp_path):
    rows = [
        [k, f"2019-11-24 00:{k % 60:02}:01.5103{k % 100:02}+00:00", rng.randrange(80), rng.randrange(1, 4),
         int(rng.random() < 0.05), rng.choice(["0.0125", "0.3", "0.0875"]), hashed(zipf(5), 32), f"{rng.random():.3f}"]
        for k in range(900)
    ]  # fmt: skip
    names = [
        "",
        "timestamp",
        "item_id",
        "position",
        "click",
        "propensity_score",
        "user_feature_0",
        "user-item_affinity_0",
    ]
    there, _ = taken(write(tmp_path / "bandit.csv", names, rows))
    assert there == {
        "": "left out", "timestamp": "time", "item_id": "category", "position": "category", "click": "label",
        "propensity_score": "number", "user_feature_0": "category", "user-item_affinity_0": "number",
    }  # fmt: skip
