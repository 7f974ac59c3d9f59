"""Many runs at once give what the runs give one by one."""

import pytest

from fedbandit.results.sweep import sweep

ARGUMENTS = [(2, power) for power in range(10)]


def test_one_job_runs_in_order_and_only_as_far_as_it_is_asked():
    asked = []

    def arguments():
        for each in ARGUMENTS:
            asked.append(each)
            yield each

    found = sweep(pow, arguments(), jobs=1)
    assert next(found) == 1
    assert asked == ARGUMENTS[:1]
    assert list(found) == [2**power for power in range(1, 10)]


def test_two_jobs_give_the_same_in_some_order():
    assert sorted(sweep(pow, ARGUMENTS, jobs=2)) == [2**power for power in range(10)]


def test_nothing_to_do_is_done_at_once():
    assert list(sweep(pow, [], jobs=1)) == []
    assert list(sweep(pow, [], jobs=2)) == []


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_in_a_task_reaches_the_caller(jobs):
    with pytest.raises(ZeroDivisionError):
        list(sweep(divmod, [(1, 0)], jobs=jobs))
