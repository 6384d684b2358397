"""Parameters cells: what is declared, which values fit, what a mistake says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matpcr_utils.chapters.parameters import Parameter, parameters_in, resolve
from matpcr_utils.errors import MatPCRError

CELL = """\
near_hull: float = 0.05  # eV/atom; "stable" up to here
window: tuple[float, float] = (10.0, 90.0)  # degrees # of 2θ
name: str | None = None
n = 500  # claims
ids: list[str] = [
    "mp-149",  # silicon
    "mp-66",
]
"""


def one(kind: str, default: object = None) -> Parameter:
    return Parameter("x", kind, default, "")


def test_a_cell_declares_names_types_defaults_and_help() -> None:
    assert parameters_in(CELL) == [
        Parameter("near_hull", "float", 0.05, 'eV/atom; "stable" up to here'),
        Parameter("window", "tuple[float, float]", (10.0, 90.0), "degrees # of 2θ"),
        Parameter("name", "str | None", None, ""),
        Parameter("n", "int", 500, "claims"),
        Parameter("ids", "list[str]", ["mp-149", "mp-66"], ""),
    ]


@pytest.mark.parametrize(
    ("cell", "says"),
    [
        ("x: float = 2 * 0.1", "the default of x must be a literal"),
        ("x: float", "the default of x must be a literal"),
        ("import os", "'import os' is not one parameter"),
        ("x: int = = 3", r"line 1 \('x: int = = 3'\) is no Python"),
        ('x: str = """abc', "is no Python"),
        ("a = b = 1", "'a = b = 1' is not one parameter"),
    ],
)
def test_a_cell_that_papermill_could_not_override_is_refused(cell: str, says: str) -> None:
    with pytest.raises(MatPCRError, match=says):
        parameters_in(cell)


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("float", "1e-3", 0.001),
        ("float", "2", 2.0),
        ("float", "-inf", float("-inf")),
        ("int", "12", 12),
        ("bool", "False", False),
        ("bool", "yes", True),
        ("str", "None", "None"),
        ("str", "12", "12"),
        ("str | None", "None", None),
        ("str | None", "mp-149", "mp-149"),
        ("float | None", "none", None),
        ("float | None", "0.5", 0.5),
        ("Optional[int]", "3", 3),
        ("int | str", "7", 7),
        ("int | str", "seven", "seven"),
        ("tuple[float, float]", "(10, 90)", (10.0, 90.0)),
        ("tuple[float, float]", "10, 90", (10.0, 90.0)),
        ("tuple[float, ...]", "[0.1]", (0.1,)),
        ("tuple[float, ...]", "0.1", (0.1,)),
        ("list[str]", "Si, NaCl", ["Si", "NaCl"]),
        ("list[int]", "[1, 2]", [1, 2]),
        ("dict[str, float]", "{'a': 1}", {"a": 1.0}),
        ("Literal['bar', 'header']", "bar", "bar"),
        ("Literal[1, 2]", "2", 2),
        ("'float'", "1.5", 1.5),
        ("list", "1, 2", [1, 2]),
        ("tuple", "1, 2", (1, 2)),
        ("dict", "{1: 2}", {1: 2}),
        ("None", "null", None),
    ],
)
def test_text_becomes_the_declared_type(kind: str, text: str, value: object) -> None:
    parsed = one(kind).parse(text)
    assert parsed == value
    assert type(parsed) is type(value)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("int", "0.5"),
        ("int", 0.5),
        ("int", True),
        ("float", "five"),
        ("float", "nan"),
        ("float", float("nan")),
        ("float", True),
        ("float", None),
        ("bool", "maybe"),
        ("bool", 2),
        ("str", 3),
        ("None", "3"),
        ("float | None", "x"),
        ("tuple[float, float]", "1"),
        ("tuple[float, float]", "1, 2, 3"),
        ("tuple[float, float]", "a, b"),
        ("list[int]", "1, x"),
        ("dict[str, int]", "1"),
        ("Literal['bar', 'header']", "ruler"),
        ("Path", "x"),
        ("set[int]", "1"),
    ],
)
def test_a_value_of_another_type_is_refused_in_one_line(kind: str, value: object) -> None:
    with pytest.raises(MatPCRError) as caught:
        Parameter("near_hull", kind, 0.05, "eV/atom").parse(value)
    message = str(caught.value)
    assert message.startswith(f"parameter near_hull = {value!r} is not of type {kind}")
    assert "(default 0.05; eV/atom)" in message
    assert "\n" not in message


@given(st.floats(allow_nan=False))
def test_a_float_survives_its_text(number: float) -> None:
    assert one("float").parse(repr(number)) == number


@given(st.lists(st.integers()))
def test_a_list_survives_its_text(numbers: list[int]) -> None:
    assert one("list[int]").parse(repr(numbers)) == numbers


def test_resolve_converts_what_is_given_and_leaves_the_rest() -> None:
    assert resolve("chapter c", parameters_in(CELL), {"n": "7"}) == {"n": 7}


def test_an_unknown_parameter_names_the_nearest_and_all() -> None:
    with pytest.raises(MatPCRError) as caught:
        resolve("chapter oracles/stability", parameters_in(CELL), {"near_hul": "0.1"})
    assert str(caught.value) == (
        "chapter oracles/stability has no parameter 'near_hul': did you mean near_hull? "
        "Its parameters are near_hull, window, name, n, ids"
    )


def test_a_chapter_without_parameters_says_so() -> None:
    with pytest.raises(MatPCRError, match="chapter c has no parameters, so 'n' can't be set"):
        resolve("chapter c", [], {"n": 1})


@pytest.mark.parametrize("text", ["(" * 5000, "[" * 100_000, "{[]: 1}", "9" * 5000])
def test_a_huge_or_odd_text_is_one_short_line(text: str) -> None:
    with pytest.raises(MatPCRError, match="is not of type") as caught:
        Parameter("window", "tuple[float, float]", (10.0, 90.0), "degrees").parse(text)
    assert len(str(caught.value)) < 250
