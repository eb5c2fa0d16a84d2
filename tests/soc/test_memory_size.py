"""Sizes of memories as people write them."""

import pytest

from tvm_pulp.errors import UserError
from tvm_pulp.soc.memory_size import parse_size


@pytest.mark.parametrize(
    ("text", "size"),
    [
        *(("65536", 65536), ("64k", 65536), ("64K", 65536), ("64 KiB", 65536), ("64kB", 65536), ("1M", 1 << 20)),
        *(("1.5MiB", 3 << 19), ("100b", 100), (" 7 ", 7)),
    ],
)
def test_units(text: str, size: int) -> None:
    assert parse_size("--l1", text) == size


def test_numbers_stay() -> None:
    assert parse_size("--l1", 12345) == 12345


@pytest.mark.parametrize("text", ["", "much", "k", "-1", "64q", "1.3", "0.0001k", "6 4k", "1e3"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(UserError, match=r"--l2 '.*' is no number of bytes: write 65536, 64k"):
        parse_size("--l2", text)
