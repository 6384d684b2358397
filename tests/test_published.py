import pytest

from matpcr_utils import published
from matpcr_utils.errors import MatPCRError


def test_figures_of_the_paper():
    # Paper, sections 4.4 and 2.1.
    assert published.get("near_hull_threshold").text == "0.05 eV/atom"
    assert published.get("near_hull_threshold").source == "§4.4, p. 16"
    assert published.get("audited_precision_xrd").text == "77.2 %"
    assert published.get("gap_abstained").value == "125"


def test_every_figure_has_its_source_and_a_chapter():
    for figure in published.figures().values():
        assert figure.quantity
        assert figure.value
        assert figure.section
        assert figure.page
        assert figure.chapters


def test_table_selects_by_section_and_chapter():
    table = published.table(section="4.4", chapter="stability").data
    assert "0.05 eV/atom" in set(table["Published (paper)"])
    assert not any(
        "gap" in quantity for quantity in table["Quantity"] if quantity.startswith("Band")
    )


def test_published_and_measured_stand_in_columns_of_their_own():
    shown = published.beside("metallicity", {"gap_abstained": "97 of 2,938"}).data.set_index(
        "Quantity"
    )
    row = shown.loc[published.get("gap_abstained").quantity]
    assert row["Published (paper)"] == "125"
    assert row["Measured here"] == "97 of 2,938"
    other = shown.loc[published.get("gap_zero_max").quantity]
    assert other["Measured here"] == published.NOT_MEASURED


def test_unknown_names_are_refused():
    with pytest.raises(MatPCRError, match="no_such_figure"):
        published.get("no_such_figure")
    with pytest.raises(MatPCRError, match="near_hull_threshold"):
        published.beside("metallicity", {"near_hull_threshold": "0.05"})
    with pytest.raises(MatPCRError, match="alchemy"):
        published.table(chapter="alchemy")
