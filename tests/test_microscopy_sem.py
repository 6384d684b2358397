"""Files from electron microscopes: headers, databars, and headers that contradict the bar."""

import io
import zipfile

import numpy as np
import pytest
import tifffile
from PIL import Image

from matpcr_utils.errors import MatPCRError
from matpcr_utils.references import archives, micrographs, sem

ZEISS = (
    "\r\n0\r\n0\r\nAP_PIXEL_SIZE\r\nPixel Size = {pixel}\r\nAP_WIDTH\r\nWidth = {width}\r\n"
    "AP_WD\r\nWD = 5.1 mm\r\n"
)
FEI = "[Scan]\r\nPixelWidth={pixel}\r\nHorFieldsize={width}\r\n[Image]\r\nResolutionY={rows}\r\n"


@pytest.fixture(scope="module")
def image():
    return micrographs.generate(
        1, kind="particles", bar="bracket", place="databar", tone="dark", databar=True, jpeg=0
    )


def write(path, pixels, *, zeiss=None, fei=None, **options):
    """A TIFF with a vendor's header in its tag."""
    tags = []
    for code, text in ((34118, zeiss), (34682, fei)):
        if text is not None:
            data = text.encode("cp1252")
            tags.append((code, 7 if code == 34118 else 2, len(data), data, True))
    tifffile.imwrite(path, pixels, extratags=tags, **options)
    return path


def zeiss_header(pixel_nm, columns):
    return ZEISS.format(pixel=f"{pixel_nm:.6g} nm", width=f"{pixel_nm * columns / 1000:.6g} µm")


def test_zeiss_header_and_bar_agree(tmp_path, image):
    header = zeiss_header(image.pixel_size_nm, image.pixels.shape[1])
    loaded = sem.load(write(tmp_path / "z.tif", image.pixels, zeiss=header))
    assert loaded.vendor == "Zeiss"
    assert not loaded.simulated
    assert loaded.header_pixel_size_nm == pytest.approx(image.pixel_size_nm, rel=1e-5)
    assert loaded.header_width_nm == pytest.approx(
        image.pixel_size_nm * image.pixels.shape[1], rel=1e-5
    )
    assert loaded.metadata["ap_wd"] == ("WD", 5.1, "mm")
    assert loaded.databar_height == pytest.approx(image.databar_height, abs=2)
    found = sem.calibrate(loaded)
    assert (found.source, found.agrees) == ("header", True)
    assert found.pixel_size_nm == loaded.header_pixel_size_nm
    assert found.ratio == pytest.approx(1, abs=0.02)


def test_fei_header_gives_metres_and_the_rows_of_the_picture(tmp_path, image):
    rows = image.pixels.shape[0] - image.databar_height
    header = FEI.format(pixel="3.3724e-06", width="0.00172667", rows=rows)
    loaded = sem.load(write(tmp_path / "f.tif", image.pixels, fei=header))
    assert loaded.vendor == "FEI"
    assert loaded.header_pixel_size_nm == pytest.approx(3372.4)
    assert loaded.header_width_nm == pytest.approx(1_726_670)
    assert loaded.databar_height == image.databar_height


def test_picometres_of_a_zeiss_header_are_nm(tmp_path, image):
    header = ZEISS.format(pixel="543.0 pm", width="556.0 nm")
    loaded = sem.load(write(tmp_path / "p.tif", image.pixels, zeiss=header))
    assert loaded.header_pixel_size_nm == pytest.approx(0.543)


def test_a_header_that_is_off_by_two_loses_against_the_bar(image):
    small = sem.resized(sem.with_header(image), 0.5)
    found = sem.calibrate(small)
    assert (found.source, found.agrees) == ("bar", False)
    assert found.ratio == pytest.approx(2, rel=0.03)
    assert found.pixel_size_nm == pytest.approx(2 * image.pixel_size_nm, rel=0.03)
    assert "down-sampled 2 times" in found.note
    large = sem.calibrate(sem.resized(sem.with_header(image), 2.0))
    assert large.ratio == pytest.approx(0.5, rel=0.03)
    assert "enlarged 2 times" in large.note


def test_without_a_bar_the_header_counts_unless_it_contradicts_itself():
    image = micrographs.generate(1, bar="none", databar=False)
    whole = sem.with_header(image)
    found = sem.calibrate(whole)
    assert (found.source, found.agrees, found.ratio) == ("header", None, None)
    assert found.pixel_size_nm == image.pixel_size_nm
    shrunk = sem.calibrate(sem.resized(whole, 0.5))
    assert (shrunk.source, shrunk.pixel_size_nm) == ("none", None)
    assert "resized or cropped" in shrunk.note
    bare = sem.calibrate(image)
    assert (bare.source, bare.pixel_size_nm) == ("none", None)
    assert "no scale bar" in bare.note


def test_a_png_has_no_header_and_is_calibrated_by_its_bar(tmp_path, image):
    path = tmp_path / "image.png"
    Image.fromarray(image.pixels).convert("RGB").save(path)
    loaded = sem.load(path)
    assert loaded.pixels.shape == image.pixels.shape  # three equal planes are one
    assert (loaded.vendor, loaded.header_pixel_size_nm) == ("", None)
    found = sem.calibrate(loaded)
    assert found.source == "bar"
    assert found.pixel_size_nm == pytest.approx(image.pixel_size_nm, rel=0.03)


@pytest.mark.parametrize("depth", ["uint16", "rgb", "float32", "palette", "miniswhite", "planar"])
def test_depths_and_colours_become_the_same_picture(tmp_path, image, depth):
    pixels, path = image.pixels, tmp_path / "d.tif"
    if depth == "uint16":
        tifffile.imwrite(path, pixels.astype(np.uint16) * 257)
    elif depth == "rgb":
        tifffile.imwrite(path, np.repeat(pixels[..., None], 3, axis=2), photometric="rgb")
    elif depth == "float32":
        tifffile.imwrite(path, pixels.astype(np.float32) / 255)
    elif depth == "palette":
        ramp = (np.arange(256) * 257).astype(np.uint16)
        tifffile.imwrite(path, pixels, photometric="palette", colormap=np.stack([ramp] * 3))
    elif depth == "miniswhite":
        tifffile.imwrite(path, 255 - pixels, photometric="miniswhite")
    else:
        planes = np.repeat(pixels[None], 3, axis=0)
        tifffile.imwrite(path, planes, photometric="rgb", planarconfig="separate")
    assert pixels.min() == 0
    assert pixels.max() == 255
    assert np.array_equal(sem.load(path).pixels, pixels)


def test_pages_of_a_stack(tmp_path, image):
    path = tmp_path / "stack.tif"
    with tifffile.TiffWriter(path) as writer:
        for page in (image.pixels, 255 - image.pixels):
            writer.write(page, contiguous=False)
    assert np.array_equal(sem.load(path, page=1).pixels, 255 - image.pixels)
    with pytest.raises(MatPCRError, match="pages 0 to 1, none 2"):
        sem.load(path, page=2)


@pytest.mark.parametrize(
    ("pixels", "says"),
    [
        (np.ones((40, 50), np.complex64), "odd.tif: complex numbers are no image"),
        (np.full((40, 50), np.nan, np.float32), "odd.tif: image holds NaN or infinity"),
        (np.ones((4, 5), np.uint8), "odd.tif: image of 5 x 4 pixels is too small"),
    ],
)
def test_pixels_that_are_no_image_are_named_with_their_file(tmp_path, pixels, says):
    tifffile.imwrite(tmp_path / "odd.tif", pixels)
    with pytest.raises(MatPCRError, match=says):
        sem.load(tmp_path / "odd.tif")


def test_files_that_are_no_image(tmp_path):
    with pytest.raises(MatPCRError, match="no file"):
        sem.load(tmp_path / "none.tif")
    for name, content in (("text.tif", b"hello"), ("cut.tif", b"II*\0\x08\0\0\0\x01")):
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(MatPCRError, match="can't be read as an image"):
            sem.load(path)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("databar", [True, False])
def test_the_databar_is_measured(seed, databar):
    image = micrographs.generate(seed, place="image", databar=databar)
    assert sem.databar_height(image.pixels) == pytest.approx(image.databar_height, abs=2)


def test_an_even_image_shows_its_databar_only_by_a_frame():
    black = np.zeros((400, 600), np.uint8)
    assert sem.databar_height(black) == 0
    black[360] = 255
    assert sem.databar_height(black) == 40


def test_bad_options():
    image = micrographs.generate(1)
    with pytest.raises(MatPCRError, match="tolerance = 0 must be positive"):
        sem.calibrate(image, tolerance=0)
    with pytest.raises(MatPCRError, match="at least 32 pixels"):
        sem.resized(sem.with_header(image), 0.01)


def fetched(name):
    try:
        return archives.fetch(name)
    except MatPCRError as error:
        pytest.skip(str(error))


@pytest.mark.network
def test_the_real_bracket_is_found_within_three_percent():
    fetched("aquami")
    image = sem.nanoporous_gold()
    assert image.header_pixel_size_nm == pytest.approx(0.543)
    assert image.databar_height == 77
    found = sem.calibrate(image)
    assert found.bar.label == "20 nm"
    assert found.bar.length_px == pytest.approx(20 / 0.543, rel=0.03)
    assert found.bar.bracket
    assert (found.agrees, found.source) == (True, "header")


@pytest.mark.network
@pytest.mark.parametrize(
    ("archive", "member", "vendor", "true_nm", "source"),
    [
        ("tiff_Zeiss_SEM.zip", "test_tiff_Zeiss_SEM_1k.tif", "Zeiss", 2614.5, "header"),
        ("tiff_Zeiss_SEM.zip", "test_tiff_Zeiss_SEM_512pix.tif", "Zeiss", 11.65, "bar"),
        ("tiff_FEI_Helios.zip", "FEI-Helios-Ebeam-8bits.tif", "FEI", 3372.4, "header"),
        ("tiff_FEI_Helios.zip", "FEI-Helios-Ebeam-16bits.tif", "FEI", 3372.4, "header"),
    ],
)
def test_other_real_images(tmp_path, archive, member, vendor, true_nm, source):
    fetched("hyperspy")
    content = archives.member("hyperspy", f"hyperspy/tests/io/tiff_files/{archive}")
    with zipfile.ZipFile(io.BytesIO(content)) as inner:
        path = tmp_path / "image.tif"
        path.write_bytes(inner.read(next(n for n in inner.namelist() if n.endswith(member))))
    image = sem.load(path)
    found = sem.calibrate(image)
    assert (image.vendor, found.source) == (vendor, source)
    assert found.bar.pixel_size_nm == pytest.approx(true_nm, rel=0.03)
    if source == "bar":
        assert found.ratio == pytest.approx(2, rel=0.03)


@pytest.mark.network
def test_a_maker_that_measures_between_outer_edges(tmp_path):
    fetched("hyperspy")
    content = archives.member("hyperspy", "hyperspy/tests/io/tiff_files/TVIPS_bin4.zip")
    with zipfile.ZipFile(io.BytesIO(content)) as inner:
        path = tmp_path / "image.tif"
        path.write_bytes(inner.read(next(n for n in inner.namelist() if n.endswith(".tif"))))
    bar = sem.calibrate(sem.load(path)).bar
    # The header states 1.4208 nm per pixel.
    assert 200 / bar.outer_px == pytest.approx(1.4208, rel=0.005)
    assert bar.pixel_size_nm == pytest.approx(1.4208, rel=0.04)
