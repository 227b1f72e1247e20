"""Maps that several tests of this folder look at."""

from support.maps_to_assess import ipa, plml, roll, unfold

__all__ = ["ipa", "plml", "roll", "unfold"]
