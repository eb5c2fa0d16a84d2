"""Tables of sums give what the sum gives, for every pair of bytes."""

import numpy as np
import pytest

from schedules.byte_functions import find_sum_table
from schedules.byte_tables import byte_values


def result(total: np.ndarray) -> np.ndarray:
    return np.clip(total * 5 >> 3, -128, 127).astype(np.int8)


def table(name: str, dtype: str) -> np.ndarray | None:
    own = byte_values(dtype)
    tables = {"moved": own + 28, "halved": own >> 1, "unsigned": np.abs(own * 3 - 300).clip(0, 255)}
    return tables.get(name)


@pytest.mark.parametrize("types", [("int8", "int8"), ("uint8", "int8"), ("uint8", "uint8")])
@pytest.mark.parametrize("first", ["none", "moved", "halved", "unsigned"])
@pytest.mark.parametrize("second", ["none", "moved", "halved", "unsigned"])
def test_every_pair(types: tuple[str, str], first: str, second: str) -> None:
    tables = [table(first, types[0]), table(second, types[1])]
    found = find_sum_table(tables, types, result)
    assert found is not None and found.results.size <= 511
    wanted = [byte_values(t) if values is None else values for values, t in zip(tables, types, strict=True)]
    stored = [byte_values(t) if o is None else o.astype(np.int64) for o, t in zip(found.operands, types, strict=True)]
    given = found.results[stored[0][:, None] + stored[1][None, :] - found.low].view(np.int8)
    np.testing.assert_array_equal(given, result(wanted[0][:, None] + wanted[1][None, :]))


def test_a_constant_difference_needs_no_table() -> None:
    found = find_sum_table([byte_values("int8") + 7, None], ("int8", "int8"), result)
    assert found is not None and found.operands == (None, None)


def test_an_operand_beyond_a_byte_has_none() -> None:
    assert find_sum_table([np.arange(256) * 2, None], ("uint8", "uint8"), result) is None
