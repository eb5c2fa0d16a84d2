"""Arrays of a user find their inputs by name; positions count where the names say so, or where none is right."""

import numpy as np
import pytest

from tvm_pulp.errors import Note, UserError
from tvm_pulp.frontend.match_arrays import match_arrays

NAMES = ["image", "mask"]


def arrays(*keys: str) -> list[tuple[str, np.ndarray]]:
    return [(key, np.array(number)) for number, key in enumerate(keys)]


def matched(*keys: str) -> dict[str, int]:
    return {name: int(array) for name, array in match_arrays(NAMES, arrays(*keys)).items()}


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        (("mask", "image"), {"image": 1, "mask": 0}),
        (("arr_0", "arr_1"), {"image": 0, "mask": 1}),
        (("input_1", "input_0"), {"image": 1, "mask": 0}),
        (("image",), {"image": 0}),
        ((), {}),
    ],
)
def test_names_and_positions(keys: tuple[str, ...], expected: dict[str, int], recwarn: pytest.WarningsRecorder) -> None:
    assert matched(*keys) == expected
    assert not recwarn.list


def test_other_names_are_taken_in_order_and_listed() -> None:
    with pytest.warns(Note, match="'a' for 'image', 'b' for 'mask'"):
        assert matched("a", "b") == {"image": 0, "mask": 1}


def test_more_arrays_than_inputs_are_named() -> None:
    with pytest.warns(Note, match="left out: label, weight"):
        assert matched("image", "mask", "label", "weight") == {"image": 0, "mask": 1}
    with pytest.warns(Note, match="left out: arr_2"):
        assert matched("arr_0", "arr_1", "arr_2") == {"image": 0, "mask": 1}


@pytest.mark.parametrize(
    ("key", "advice"), [("msk", "did you mean 'mask'"), ("zebra", "inputs without an array: mask")]
)
def test_a_wrong_name_beside_a_right_one_is_refused(key: str, advice: str) -> None:
    with pytest.raises(UserError, match=f"--inputs: there is no input '{key}': {advice}"):
        matched("image", key)


def test_a_name_that_looks_like_a_position_is_a_name() -> None:
    found = match_arrays(["input_1", "input_0"], arrays("input_0", "input_1"))
    assert {name: int(array) for name, array in found.items()} == {"input_0": 0, "input_1": 1}
