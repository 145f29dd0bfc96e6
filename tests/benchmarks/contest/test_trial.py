"""What a searcher would have picked had it been stopped."""

from __future__ import annotations

from foresee.benchmarks.contest.trial import trial_of
from foresee.runs.record import CandidateRow, Record


def candidate(number: int, merit: float) -> CandidateRow:
    return CandidateRow(number, f"a{number}", "", None, "scored", "", merit, {}, 1, 1.0, number + 1.0, number + 2.0)


def test_whoever_chooses_another_in_the_end_is_judged_by_that():
    rows = [candidate(number, merit) for number, merit in enumerate([1.0, 3.0, 2.0])]
    record = Record("search", "finished", 0.0, {}, {}, tuple(rows))
    numbers = {"a0": 10.0, "a1": 30.0, "a2": 20.0}
    judge = lambda texts: [numbers[text] for text in texts]  # noqa: E731
    plain = trial_of("x", 0, record, 3, judge)
    assert [(pick.evaluations, pick.judged) for pick in plain.picks] == [(1, 10.0), (2, 30.0)]

    class Chosen(Record):
        best = rows[2]

    chosen = Chosen(*(getattr(record, name) for name in Record.__dataclass_fields__))
    assert [(pick.evaluations, pick.judged) for pick in trial_of("x", 0, chosen, 3, judge).picks] == [
        (1, 10.0), (2, 30.0), (3, 20.0),
    ]  # fmt: skip
    # looked at before its end, it has not chosen yet
    assert [pick.evaluations for pick in trial_of("x", 0, chosen, 2, judge).picks] == [1, 2]


def test_a_candidate_counts_when_all_before_it_are_there():
    rows = [candidate(0, 1.0), candidate(1, 2.0), candidate(2, 3.0)]
    late = CandidateRow(1, "a1", "", None, "scored", "", 2.0, {}, 1, 1.0, 2.0, 9.0)  # another worker was quicker
    record = Record("search", "finished", 0.0, {}, {}, (rows[0], late, rows[2]))
    found = trial_of("x", 0, record, 3, lambda texts: [None] * len(texts))
    assert [pick.seconds for pick in found.picks] == [1.0, 8.0, 8.0]
    assert found.seconds == 8.0


def test_a_run_without_a_score_has_no_pick():
    failed = CandidateRow(0, "a", "", None, "failed", "why", None, {}, 1, 1.0, 1.0, 2.0)
    found = trial_of("x", 3, Record("search", "finished", 0.0, {}, {}, (failed,)), 3, lambda texts: [], "given up")
    assert (found.pick, found.evaluations, found.reason) == (None, 1, "given up")
