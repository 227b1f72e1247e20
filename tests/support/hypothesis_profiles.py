"""How many examples property tests draw, and whether they are the same ones in every run.

In `make test` a commit has one verdict: examples follow from the tests alone, and neither the speed
of the machine nor what earlier runs have found plays a part. `make fuzz` looks for new ones.
"""

from hypothesis import HealthCheck, settings

USUAL = 100
"""Examples of a test that does not say how many, in `make test`."""

settings.register_profile(
    "test",
    max_examples=USUAL,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "fuzz",
    settings.get_profile("test"),
    max_examples=4 * USUAL,
    derandomize=False,
    print_blob=True,
)
settings.load_profile("test")


def examples(count):
    """Return the settings of a test that draws so many examples, and more of them in `make fuzz`.

    A number in `hypothesis.settings` would hold in every profile.
    """
    return settings(max_examples=count * settings().max_examples // USUAL)
