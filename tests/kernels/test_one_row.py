"""The only row of a token has loops of its own: every sequence of stages, both types, cores without work."""

import numpy as np
import pytest

from tests.kernels.check import check
from tests.kernels.elementwise_cases import add_case, requantize_add_case, requantize_case
from tests.kernels.row_cases import qdq_norm_case, uniform_norm_case

BYTES = ("int8", "uint8")


@pytest.mark.parametrize("columns, cores", [(4, 8), (100, 8), (36, 3)])
def test_requantize(columns: int, cores: int) -> None:
    rng = np.random.default_rng(columns)
    check(requantize_case(rng, 1, columns, "shift", dtype="int32", per_channel=True), cores)
    check(requantize_add_case(rng, 1, columns, BYTES[cores % 2]), cores)


@pytest.mark.parametrize("first", BYTES)
@pytest.mark.parametrize("second", BYTES)
def test_add(first: str, second: str) -> None:
    check(add_case(np.random.default_rng(0), 1, 61, "pulp", form="plain", types=(first, second)), 8)


@pytest.mark.parametrize("form", ["layer", "rms", "rms_quantized"])
@pytest.mark.parametrize("dtype, columns", [("int8", 64), ("uint8", 31)])
def test_qdq_norm(form: str, dtype: str, columns: int) -> None:
    check(qdq_norm_case(np.random.default_rng(0), 1, columns, dtype=dtype, form=form), 8)


@pytest.mark.parametrize(("columns", "cores"), [(64, 8), (128, 4), (32, 8), (16, 2)])
def test_uniform_norm(columns: int, cores: int) -> None:
    check(uniform_norm_case(np.random.default_rng(columns), 1, columns, misalign=1), cores)
