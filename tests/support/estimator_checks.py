"""scikit-learn's checks for several forms of one estimator, without repeating what they share."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

# What depends on the way in which a map is made. All else (names of parameters, tags, messages,
# kinds of arrays) is the work of the base class, and the same for every form of an estimator.
OF_EVERY_FORM = {
    "check_dict_unchanged",
    "check_estimators_nan_inf",
    "check_estimators_pickle",
    "check_fit2d_1feature",
    "check_fit2d_1sample",
    "check_fit_idempotent",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_transformer_general",
}


def checks_of_forms(first, *others):
    """Return all checks of the first form, and of others what may differ; the rest is slow."""
    made = parametrize_with_checks([first, *others])
    names, cases = made.args
    chosen = []
    for case in cases:
        values = getattr(case, "values", case)
        estimator, check = values
        is_needed = repr(estimator) == repr(first) or check.func.__name__ in OF_EVERY_FORM
        marks = (*getattr(case, "marks", ()), *(() if is_needed else (pytest.mark.slow,)))
        chosen.append(pytest.param(*values, marks=marks))
    return pytest.mark.parametrize(names, chosen, **made.kwargs)
