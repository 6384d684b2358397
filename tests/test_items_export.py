"""The exported data set and the commands."""

import json

import matplotlib
import pytest
from click.testing import CliRunner
from PIL import Image

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from matpcr_utils import items
from matpcr_utils.claims import CONSTRAINTS
from matpcr_utils.cli_items import items as command
from matpcr_utils.errors import MatPCRError
from matpcr_utils.items import dataset
from matpcr_utils.plotting import items as figures


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    return items.export(tmp_path_factory.mktemp("data") / "set", n_items=4)


def rows(folder):
    lines = (folder / dataset.TABLE).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_every_item_has_a_row_with_all_columns(exported):
    table = rows(exported)
    chosen = items.load("all", 4)
    assert [row["item_id"] for row in table] == [item.item_id for item in chosen]
    for row, item in zip(table, chosen, strict=True):
        assert list(row) == list(dataset.COLUMNS)
        assert row["prompts"]["v2"] == items.prompt(item, "v2")
        assert row["truth"]["sentence"] == items.answer(item)
        assert items.get(row["item_id"]) == item


def test_images_are_there_once_a_source(exported):
    named = {row["image"] for row in rows(exported)} - {None}
    assert named == {f"images/{path.name}" for path in (exported / "images").iterdir()}
    for row in rows(exported):
        assert (row["image"] is not None) == (row["modality"] == "image")
    for name in named:
        assert Image.open(exported / name).format == "PNG"


def test_the_card_states_licences_and_what_is_simulated(exported):
    card = (exported / dataset.CARD).read_text(encoding="utf-8")
    assert card.startswith("---\nlicense: ")
    for word in (*CONSTRAINTS, "CC BY 4.0", "simulated", "matminer", "doi:10.1002/qua.24917"):
        assert word in card
    assert "pyFAI" not in card  # calibrants are no items
    for column in dataset.COLUMNS:
        assert f"| {column} |" in card


def test_a_second_export_replaces_the_first_and_leaves_nothing_beside(tmp_path):
    target = tmp_path / "set"
    items.export(target, "stability", 5)
    items.export(target, "metallicity", 2)
    assert [row["constraint"] for row in rows(target)] == ["metallicity"] * 2
    assert [path.name for path in tmp_path.iterdir()] == ["set"]


def test_a_failed_export_leaves_the_first_as_it_was(tmp_path, monkeypatch):
    target = items.export(tmp_path / "set", "stability", 3)
    before = (target / dataset.TABLE).read_bytes()
    monkeypatch.setattr(dataset, "card", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        items.export(target, "stability", 2)
    assert (target / dataset.TABLE).read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["set"]


def test_folders_with_other_content_are_refused(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(MatPCRError, match=r"holds thesis\.tex"):
        items.export(tmp_path, "stability", 2)
    with pytest.raises(MatPCRError, match="is a file"):
        items.export(tmp_path / "thesis.tex", "stability", 2)
    assert (tmp_path / "thesis.tex").read_text() == "years of work"


def test_an_empty_folder_is_filled(tmp_path):
    target = tmp_path / "empty"
    target.mkdir()
    items.export(target, "stability", 2)
    assert len(rows(target)) == 2


def test_commands(tmp_path):
    run = CliRunner().invoke
    done = run(
        command, ["export", str(tmp_path / "set"), "--constraint", "spectra", "--n-items", "2"]
    )
    assert done.exit_code == 0 and "2 items" in done.output
    name = items.load("stability", 1)[0].item_id
    shown = run(command, ["show", name, "--version", "v3", "--truth", "--examples", "1"])
    item = items.get(name)
    expected = f"{items.prompt(item, 'v3', None, 1)}\n\n{items.answer(item)}\n"
    assert shown.output == expected
    record = json.loads(run(command, ["show", name, "--json"]).output)
    assert record["item_id"] == name
    listed = run(command, ["show", "stability"]).output.splitlines()
    assert listed == [i.item_id for i in items.load("stability")]
    picture = tmp_path / "a.png"
    spectrum = items.load("spectra", 1)[0]
    assert run(command, ["show", spectrum.item_id, "--image", str(picture)]).exit_code == 0
    assert picture.read_bytes() == items.image(spectrum)
    refused = run(command, ["show", spectrum.item_id, "--image", str(tmp_path)])
    assert isinstance(refused.exception, MatPCRError)


def test_figures():
    shown = [items.load(constraint, 3)[0] for constraint in CONSTRAINTS]
    gallery = figures.gallery(shown)
    assert [axis.get_title("left").split()[0] for axis in gallery.axes] == list(CONSTRAINTS)
    spread = figures.difficulty(items.load("all", 6))
    counts = [sum(int(patch.get_height() > 0) for patch in axis.patches) for axis in spread.axes]
    assert len(counts) == 6 and min(counts) > 0
    curve = figures.rendering(shown[0]).axes[0]
    assert [line.get_label() for line in curve.lines][:1] == ["what an image shows"]
    for call in (lambda: figures.gallery([]), lambda: figures.difficulty([])):
        with pytest.raises(MatPCRError, match="0 items"):
            call()
    with pytest.raises(MatPCRError, match="no curve"):
        figures.rendering(shown[3])
    plt.close("all")
