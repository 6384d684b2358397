"""Generated micrographs: deterministic, true to what they say, and varied."""

import numpy as np
import pytest

from matpcr_utils.errors import MatPCRError
from matpcr_utils.references import micrographs
from matpcr_utils.references.micrograph_overlay import BARS, SIDES, UNUSUAL_BARS
from matpcr_utils.references.micrograph_scenes import KINDS


def ink(image, x, y):
    return int(image.pixels[y, x])


def test_same_seed_same_pixels_and_another_seed_others():
    first, again, other = (micrographs.generate(seed) for seed in (3, 3, 4))
    assert np.array_equal(first.pixels, again.pixels)
    assert first.metadata == again.metadata
    assert first.pixels.shape != other.pixels.shape or (first.pixels != other.pixels).any()


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_are_simulated_images_with_features(kind):
    image = micrographs.generate(11, kind=kind)
    assert image.kind == kind
    assert image.simulated
    assert "simulated" in image.name
    assert image.pixels.dtype == np.uint8
    assert image.pixels.ndim == 2
    assert len(image.features_nm) > 3
    assert (image.features_nm > 0).all()
    rows = image.pixels.shape[0] - image.databar_height
    diagonal = np.hypot(image.pixels.shape[1], rows) * image.pixel_size_nm
    assert image.features_nm.max() < diagonal


@pytest.mark.parametrize("seed", range(12))
def test_bar_length_is_the_label_over_the_pixel_size_rounded(seed):
    image = micrographs.generate(seed)
    assert image.bar_px == round(image.label_nm / image.pixel_size_nm)
    width = image.pixels.shape[1]
    assert 0.03 * width < image.bar_px < 0.36 * width
    x0, y0, x1, y1 = image.bar_box
    assert 0 <= x0 < x1 <= width
    assert 0 <= y0 < y1 <= image.pixels.shape[0]
    ticks = image.style.line_px if image.style.bar == "bracket" else 0
    assert x1 - x0 == image.bar_px + ticks


@pytest.mark.parametrize(("tone", "level"), [("dark", 0), ("light", 255)])
def test_a_solid_bar_in_the_databar_is_drawn_where_it_says(tone, level):
    plain = {"bar": "solid", "place": "databar", "jpeg": 0, "after_blur": 0.0}
    image = micrographs.generate(5, tone=tone, **plain)
    x0, y0, x1, y1 = image.bar_box
    assert image.style.tone == tone
    assert (image.pixels[y0:y1, x0:x1] == level).all()
    assert (image.pixels[y0:y1, [x0 - 2, x1 + 1]] == 255 - level).all()
    assert y0 >= image.pixels.shape[0] - image.databar_height


def test_a_bracket_has_a_tick_at_each_end_and_a_line_between():
    plain = {"bar": "bracket", "place": "databar", "tone": "dark", "jpeg": 0, "after_blur": 0.0}
    image = micrographs.generate(5, line_px=2, tick_px=15, **plain)
    x0, y0, x1, y1 = image.bar_box
    block = image.pixels[y0:y1, x0:x1] == 0
    assert block[:, :2].all()
    assert block[:, -2:].all()
    assert block[:, 2:-2].any(axis=1).sum() == 2
    assert x1 - x0 - 2 == image.bar_px


def test_styles_are_mixed():
    styles = [micrographs.generate(seed).style for seed in range(40)]
    assert {style.bar for style in styles} == set(BARS)
    assert {style.label_side for style in styles} == set(SIDES)
    assert {style.tone for style in styles} == {"dark", "light"}
    assert {style.place for style in styles} == {"databar", "image"}
    assert {style.unit for style in styles} == {"nm", "µm"}
    assert {style.blank for style in styles} == {True, False}


def test_unusual_styles_are_kept_apart():
    bars = {micrographs.generate(seed, unusual=True).style.bar for seed in range(16)}
    assert bars & set(UNUSUAL_BARS)
    assert "solid" not in bars


def test_an_image_without_a_bar_says_so():
    image = micrographs.generate(8, bar="none", databar=True)
    assert image.bar_px is image.bar_box is image.label is image.label_nm is image.label_box is None
    assert image.databar_height > 0


def test_half_a_micrometre_is_written_with_a_decimal():
    image = next(
        found
        for seed in range(200)
        if (found := micrographs.generate(seed, unit="µm", micro="u", blank=True)).label_nm == 500
    )
    assert image.label == "0.5 um"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"kind": "foam"}, "unknown kind 'foam': choose one of particles, fibres, porous"),
        ({"colour": "red"}, "unknown style colour: choose of bar, place"),
        ({"bar": "ruler"}, "unknown bar 'ruler': choose one of solid, bracket"),
    ],
)
def test_unknown_options_are_refused(options, words):
    with pytest.raises(MatPCRError, match=words):
        micrographs.generate(0, **options)
