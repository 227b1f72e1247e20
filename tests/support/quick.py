"""Which cases of a parametrized test are in every run; the others are slow."""

import pytest


def quick_first(cases, count=1):
    """Return cases for `pytest.mark.parametrize`, slow but for the first ones.

    Cases of several values are tuples.
    """
    return [_case(case, is_slow=number >= count) for number, case in enumerate(cases)]


def quick_are(quick, cases):
    """Return cases for `pytest.mark.parametrize`, slow unless they are among `quick`.

    Cases of several values are tuples. A name in `quick` that is no case is a mistake.
    """
    cases = list(cases)
    missing = [case for case in quick if case not in cases]
    assert not missing, f"no such cases: {missing}"
    return [_case(case, is_slow=case not in quick) for case in cases]


def _case(case, *, is_slow):
    values = case if isinstance(case, tuple) else (case,)
    return pytest.param(*values, marks=[pytest.mark.slow] * is_slow)
