"""scikit-learn's checks for several forms of one estimator, without repeating what they share."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from isofold._base import BaseEmbedder

# What depends on the way in which a map is made. All else (names of parameters, tags, messages,
# kinds of arrays) is the work of the base class, and the same for every form of an estimator. That
# a second fit gives the same map is part of `check_transformer_general`, too; that rows do not
# depend on each other is what `contract/test_rows.py` asserts of many forms, to the last bit.
OF_EVERY_FORM = {
    "check_dict_unchanged",
    "check_estimators_pickle",
    "check_fit2d_1feature",
    "check_fit2d_1sample",
    "check_transformer_general",
}

# Long checks of what happens before any method sees its input. `contract/test_base.py` runs them in
# every run for embedders of the same base class that take no time. What type of numbers a map of
# each method has is part of `assert_embedder_contract`.
OF_THE_BASE = {
    "check_array_api_input",
    "check_dtype_object",
    "check_estimators_dtypes",
    "check_estimators_nan_inf",
    "check_f_contiguous_array_estimator",
    "check_fit2d_predict1d",
    "check_fit_check_is_fitted",
    "check_fit_score_takes_y",
    "check_n_features_in",
    "check_n_features_in_after_fitting",
    "check_pipeline_consistency",
    "check_positive_only_tag_during_fit",
    "check_readonly_memmap_input",
    "check_transformer_data_not_an_array",
    "check_transformer_preserve_dtypes",
}


def is_read_only(check):
    """Return whether a check is one that another one repeats with an input that is read-only.

    `assert_embedder_contract` does that, too.
    """
    return getattr(check, "keywords", {}).get("readonly_memmap", False)


def checks_of_forms(*forms):
    """Return the checks of the first form of a class, and of others what may differ.

    The rest is slow, and what only the base class does is slow for all forms of embedders.
    """
    made = parametrize_with_checks(list(forms))
    firsts = [form for i, form in enumerate(forms) if type(form) not in map(type, forms[:i])]
    names, cases = made.args
    chosen = []
    for case in cases:
        values = getattr(case, "values", case)
        estimator, check = values
        name = check.func.__name__
        is_first = any(estimator is form for form in firsts)
        is_of_the_base = isinstance(estimator, BaseEmbedder) and (
            name in OF_THE_BASE or is_read_only(check)
        )
        is_needed = (name in OF_EVERY_FORM or is_first) and not is_of_the_base
        marks = (*getattr(case, "marks", ()), *(() if is_needed else (pytest.mark.slow,)))
        chosen.append(pytest.param(*values, marks=marks))
    # The name of a form is long to make, and the same for all of its checks.
    made_names = {}

    def name_of(value):
        if id(value) not in made_names:
            made_names[id(value)] = made.kwargs["ids"](value)
        return made_names[id(value)]

    return pytest.mark.parametrize(names, chosen, ids=name_of)
