"""Colors: told apart by color-blind eyes, and dark to light."""

from itertools import combinations

import numpy as np
import pytest

from isofold.plot import palette

# Machado, Oliveira and Fernandes (2009): how red, green and blue look to people who lack a cone.
EYES = {
    "usual": np.eye(3),
    "no red cone": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "no green cone": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "no blue cone": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}

# Differences of 2.3 in CIELAB are just seen; Okabe and Ito's own eight colors differ by 16 or more.
TOLD_APART = 16.0


def linear(color):
    share = np.array([int(color[start : start + 2], 16) for start in (1, 3, 5)]) / 255
    return np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)


def cielab(rgb):
    to_xyz = np.array(
        [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    )
    xyz = to_xyz @ np.clip(rgb, 0, 1) / [0.9505, 1.0, 1.089]
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("colors", [palette.CLASSES_LIGHT, palette.CLASSES_DARK])
@pytest.mark.parametrize("eye", EYES)
def test_classes_are_told_apart(colors, eye):
    seen = [cielab(EYES[eye] @ linear(color)) for color in colors]
    assert min(np.linalg.norm(a - b) for a, b in combinations(seen, 2)) > TOLD_APART


@pytest.mark.parametrize("eye", EYES)
def test_numbers_rise_from_dark_to_light(eye):
    lightness = [cielab(EYES[eye] @ linear(color))[0] for color in palette.SEQUENTIAL]
    assert len(lightness) == 256
    # Colors are rounded to 1/255, which is less than half a step of lightness.
    assert np.diff(lightness).min() > -0.5
    assert lightness[-1] - lightness[0] > 70


def test_colors_of_classes_repeat_and_numbers_are_clipped():
    assert palette.class_color(11) == palette.CLASSES_LIGHT[1]
    assert palette.class_color(1, dark=True) == palette.CLASSES_DARK[1]
    assert palette.sequential_color(-1.0) == palette.SEQUENTIAL[0]
    assert palette.sequential_color(7.0) == palette.SEQUENTIAL[-1]
