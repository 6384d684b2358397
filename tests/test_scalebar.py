"""The scale bar: labels read, ends placed, nothing found where there is nothing."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageDraw

from matpcr_utils.controls import scalebar as trials
from matpcr_utils.errors import MatPCRError
from matpcr_utils.references import micrographs, scalebar
from matpcr_utils.references.micrograph_overlay import font
from matpcr_utils.references.scalebar_bars import strokes
from matpcr_utils.references.scalebar_text import TextLine, labels, parse_label


@pytest.mark.parametrize(
    ("text", "nm", "shown"),
    [
        ("500 nm", 500, "500 nm"),
        ("500nm", 500, "500 nm"),
        ("0.5 µm", 500, "0.5 µm"),
        ("0.5 μm", 500, "0.5 µm"),
        ("0,5 um", 500, "0.5 µm"),
        ("1 pm", 1000, "1 µm"),
        ("2Um", 2000, "2 µm"),
        ("1,000 nm", 1000, "1000 nm"),
        ("2O nm", 20, "20 nm"),
        ("l0 nm", 10, "10 nm"),
        ("- 200 nm -", 200, "200 nm"),
        ("|500 nm|", 500, "500 nm"),
        ("I 5 µm I", 5000, "5 µm"),
        ("1 mm", 1e6, "1 mm"),
        ("5 Å", 0.5, "5 Å"),
        ("10 microns", 10_000, "10 µm"),
        ("2.00 µm", 2000, "2 µm"),
    ],
)
def test_labels_are_read(text, nm, shown):
    assert parse_label(text) == (nm, shown)


@pytest.mark.parametrize(
    "text",
    [
        "WD = 5 mm",
        "Width = 556.0 nm",
        "HFW 3.45 µm",
        "Mag = 50.00 K X",
        "EHT = 5.00 kV",
        "nm",
        "0 nm",
        "",
        "6.3 pA",
        "120 x",
        "H200 nm",
        "2m",
        "5 A",
        "11 Jul 2016",
    ],
)
def test_other_texts_are_no_labels(text):
    assert parse_label(text) is None


@given(st.text(max_size=20))
def test_any_text_gives_a_positive_length_or_none(text):
    parsed = parse_label(text)
    assert parsed is None or parsed[0] > 0


@given(st.integers(1, 999), st.sampled_from(["nm", "µm", "mm"]))
def test_what_a_label_shows_is_read_back(number, unit):
    parsed = parse_label(f"{number} {unit}")
    assert parsed is not None
    assert parse_label(parsed[1]) == parsed


def line(text, x0, x1, y0=0.0, y1=20.0):
    return TextLine(text, 1.0, (x0, y0, x1, y1))


def test_number_and_unit_in_two_lines_are_one_label():
    (found,) = labels([line("20", 0, 30), line("μm", 38, 70)])
    assert found.text == "20 µm"
    assert found.line.box == (0, 0, 70, 20)
    assert labels([line("20", 0, 30), line("μm", 200, 230)]) == []


def test_a_label_is_cut_out_of_a_longer_line_but_not_a_fields_value():
    (leading,) = labels([line("500 nm WD = 7.1 mm", 0, 180)])
    assert (leading.text, leading.line.box[2]) == ("500 nm", 60)
    (trailing,) = labels([line("EHT = 5.00 kV 200 nm", 0, 200)])
    assert (trailing.text, trailing.line.box[0]) == ("200 nm", 140)
    assert labels([line("det ETD HFW 3.60 μm", 0, 200), line("5.0kV 8.9mm x50.0k", 0, 200)]) == []


def drawn(*, bar, label=None, at=(100, 70), size=(640, 480), ink=0, paper=200):
    """An even image with a bar and, where given, a label."""
    image = Image.new("L", size, paper)
    draw = ImageDraw.Draw(image)
    for box in bar:
        draw.rectangle((box[0], box[1], box[2] - 1, box[3] - 1), fill=ink)
    if label:
        draw.text(at, label, fill=ink, font=font("DejaVuSans", 24))
    return np.asarray(image)


def test_a_plain_bar_is_measured_from_end_to_end():
    image = drawn(bar=[(100, 110, 260, 118)], label="200 nm")
    found = scalebar.detect(image)
    assert found.length_px == pytest.approx(160, abs=0.01)
    assert found.outer_px == pytest.approx(160, abs=0.01)
    assert (found.label_nm, found.label, found.bracket, found.dark) == (200, "200 nm", False, True)
    assert found.pixel_size_nm == pytest.approx(1.25, rel=1e-4)
    assert found.box == pytest.approx((100, 110, 260, 118), abs=0.01)
    assert 0 < found.score <= 1


@pytest.mark.parametrize("thick", [1, 2, 3])
def test_a_bracket_is_measured_between_the_centres_of_its_ticks(thick):
    line_row, ends = (100, 120, 100 + 80 + thick, 120 + thick), (100, 180)
    bar = [line_row, *((x, 110, x + thick, 132) for x in ends)]
    found = scalebar.detect(drawn(bar=bar, label="1 µm", ink=255, paper=40))
    assert found.length_px == pytest.approx(80, abs=0.05)
    assert found.outer_px == pytest.approx(80 + thick, abs=0.05)
    assert (found.bracket, found.dark, found.label_nm) == (True, False, 1000)


def test_half_a_pixel_of_ink_is_half_a_pixel_of_length():
    image = drawn(bar=[(100, 110, 260, 118)], label="200 nm").copy()
    image[110:118, 260] = 100  # half way between ink and paper
    assert scalebar.detect(image).length_px == pytest.approx(160.5, abs=0.05)


def test_a_bar_that_holds_its_label_is_one_bar():
    image = drawn(
        bar=[(100, 120, 180, 123), (320, 120, 400, 123)], label="500 nm", at=(202, 108), paper=255
    )
    found = scalebar.detect(image)
    assert found.length_px == pytest.approx(300, abs=0.5)
    assert found.label == "500 nm"


def test_a_coloured_bar_on_white_is_found():
    grey = drawn(bar=[], label="200 nm", paper=255)
    image = np.repeat(grey[..., None], 3, axis=2)
    image[110:114, 100:260] = (0, 220, 0)
    assert scalebar.detect(image).length_px == pytest.approx(160, abs=0.05)


def test_deeper_images_are_stretched():
    image = drawn(bar=[(100, 110, 260, 118)], label="200 nm").astype(np.uint16) * 200
    assert scalebar.detect(image).length_px == pytest.approx(160, abs=0.05)


def test_frames_and_strokes_of_letters_are_no_bars():
    image = drawn(bar=[(0, 300, 640, 302), (0, 400, 500, 403)], label="WD 5 mm")
    found = strokes(image.astype(np.float32))
    assert all(stroke.length < 20 for stroke in found)


@pytest.mark.parametrize(
    ("image", "words"),
    [
        (drawn(bar=[(100, 110, 260, 118)]), "no text in the image is a length"),
        (drawn(bar=[], label="200 nm"), "no bar stands beside the text '200 nm'"),
        (drawn(bar=[(100, 380, 260, 388)], label="200 nm"), "no bar stands beside"),
        (np.full((64, 64), 128, np.uint8), "no text at all"),
    ],
)
def test_no_scale_bar_is_one_clear_line(image, words):
    with pytest.raises(scalebar.ScaleBarNotFound, match=words) as caught:
        scalebar.detect(image)
    assert "\n" not in str(caught.value)
    assert "give the pixel size" in str(caught.value)


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (np.zeros((10, 10)), "too small"),
        (np.zeros(100), "is no image"),
        (np.zeros((64, 64, 2)), "is no image"),
        (np.full((64, 64), np.nan), "NaN"),
    ],
)
def test_arrays_that_are_no_image(array, words):
    with pytest.raises(MatPCRError, match=words):
        scalebar.detect(array)


@pytest.fixture(scope="module")
def trial():
    return trials.trial(range(trials.HELD_OUT, trials.HELD_OUT + 14))


def test_generated_bars_are_found_and_read(trial):
    # 95 % of 200 is measured by the benchmark; 14 images that miss two would be below it.
    assert trial.rate.count >= 13
    assert np.nanmax(np.abs(trial.length_error[trial.correct])) <= trials.LENGTH_TOLERANCE


def test_a_trial_reports_by_style_and_lists_its_failures(trial):
    table = trial.summary()
    assert table["images"].iloc[0] == len(trial.images) == 14
    assert table["found and read"].iloc[0] == trial.rate.count
    assert set(table["style"]) >= {"all", "solid", "bracket", "dark", "light", "nm", "µm"}
    assert len(trial.failures()) == 14 - trial.rate.count
    assert len(trial.take(trial.correct).images) == trial.rate.count


def test_nothing_is_found_where_there_is_no_bar():
    without = trials.trial(range(6), bar="none", databar=True)
    assert without.correct.all()
    assert np.isnan(without.pixel_size_error).all()
    assert without.failures().empty


def test_failures_are_explained():
    images = (micrographs.generate(2), micrographs.generate(2, bar="none"))
    good = trials.trial([2])
    swapped = trials.Trial(images[::-1], (*good.calibrations, *good.calibrations), np.zeros(2))
    (row,) = swapped.failures().to_dict("records")
    assert row["what went wrong"] == "a bar was found where there is none"
    with pytest.raises(MatPCRError, match="0 images"):
        trials.trial([])
