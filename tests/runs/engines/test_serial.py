from __future__ import annotations

from foresee.runs import engines


def test_a_job_is_done_when_it_is_waited_for():
    done = []
    with engines.Serial(done.append, workers=7) as engine:
        assert engine.workers == 1
        for job in range(3):
            engine.submit(job, job * 10)
        assert done == []
        assert [engine.wait().job for _ in range(2)] == [0, 1]
        assert done == [0, 10]
