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
