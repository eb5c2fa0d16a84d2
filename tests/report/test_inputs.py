"""Values that do not fit the input they are for are refused with the way out that fits the network."""

import numpy as np
import pytest

from tvm_pulp.errors import UserError
from tvm_pulp.report.inputs import prepare_inputs

INPUT = {"name": "x", "shape": [1, 3], "dtype": "int8"}


@pytest.mark.parametrize(
    ("described", "advice"),
    [
        (INPUT, "recompile with --input-types or --sample-inputs"),
        (INPUT | {"scale": 0.0625, "zero_point": -3}, "scale 0.0625 and zero point -3, or compile without --io"),
    ],
)
def test_floats_for_integers(described: dict[str, object], advice: str) -> None:
    with pytest.raises(UserError, match=f"input 'x' holds values outside int8.*{advice}"):
        prepare_inputs([described], {"x": np.array([[0.5, 0.25, 0.75]])})


def test_a_sequence_is_matched_by_position(recwarn: pytest.WarningsRecorder) -> None:
    (made,) = prepare_inputs([INPUT], [np.array([1, 2, 3])])
    assert made.dtype == np.int8 and made.tolist() == [[1, 2, 3]]
    assert not recwarn.list


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "float32"])
def test_truths_are_the_numbers_0_and_1(dtype: str) -> None:
    (made,) = prepare_inputs([INPUT | {"dtype": dtype}], {"x": np.array([[True, False, True]])})
    assert made.dtype == dtype and made.tolist() == [[1, 0, 1]]


@pytest.mark.parametrize("values", [["a", "b", "c"], [1j, 2j, 3j], ["2020-01-01"] * 3])
def test_what_is_no_number(values: list[object]) -> None:
    array = np.array(values, "datetime64[D]") if values[0] == "2020-01-01" else np.array(values)
    with pytest.raises(UserError, match=r"input 'x' holds .* values, not numbers"):
        prepare_inputs([INPUT], {"x": array})
