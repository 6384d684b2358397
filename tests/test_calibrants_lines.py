"""Computed lines against the spacings that powder standards are tabulated with."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from matpcr_utils.claims.model import ClaimTable
from matpcr_utils.oracles.diffraction import DiffractionReference, LineTable, check_many
from matpcr_utils.references import calibrants
from matpcr_utils.references.lines import CU_KALPHA1, lines_of

AGREEMENT = 0.03  # degree on 2θ


@pytest.fixture(autouse=True, scope="module")
def cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        # One folder for the session: the modules of these tests share structures.
        patch.setenv("MATPCR_CACHE", str(tmp_path_factory.getbasetemp() / "lines"))
        yield


def farthest(of: np.ndarray, among: np.ndarray) -> float:
    """Largest distance of a member of one list to its nearest in the other."""
    return float(np.abs(of[:, None] - among).min(axis=1).max())


@pytest.mark.parametrize("name", ["Si", "LaB6", "CeO2"])
def test_cubic_standards_have_exactly_the_tabulated_lines(name: str) -> None:
    computed = lines_of(calibrants.structure(name), reach=120).two_theta()
    tabulated = calibrants.tabulated(name).two_theta(CU_KALPHA1)
    tabulated = tabulated[tabulated <= 120]
    assert len(computed) == len(tabulated) > 5
    assert farthest(computed, tabulated) < AGREEMENT
    assert farthest(tabulated, computed) < AGREEMENT


@pytest.mark.parametrize("name", list(calibrants.STANDARDS))
def test_every_tabulated_line_is_computed(name: str) -> None:
    # Al2O3 and Ni are tabulated to fewer lines than they have.
    computed = lines_of(calibrants.structure(name), reach=120).two_theta()
    tabulated = calibrants.tabulated(name).two_theta(CU_KALPHA1)
    assert farthest(tabulated[tabulated <= 120], computed) < AGREEMENT


@pytest.mark.parametrize("name", list(calibrants.STANDARDS))
def test_every_strong_tabulated_line_passes_the_oracle(name: str) -> None:
    reference = DiffractionReference.from_structure(calibrants.structure(name))
    d = calibrants.tabulated(name).d
    d = d[(d > 1.1) & (d < 8.8)]
    verdicts = check_many(
        ClaimTable.numbers("d_spacing", d),
        LineTable.from_references([reference]),
        index=np.zeros(len(d), int),
    )
    weak = lines_of(calibrants.structure(name)).intensity < 1.0
    assert len(d) >= 3
    assert verdicts.violation.sum() <= weak.sum()
    assert not verdicts.abstain.any()
