"""Accesses of the program: the bytes that they share."""

from tvm_pulp.planning.program.actions import Access


def lines(space: str, start: int, size: int, line: int | None = None, stride: int | None = None) -> Access:
    return Access(space, start, size, "x", 0, None, line, stride)


def test_lines_of_equal_stride_overlap_only_in_common_columns() -> None:
    left = lines("L2", 0, 40, 10, 100)
    assert not left.overlaps(lines("L2", 10, 40, 10, 100))
    assert left.overlaps(lines("L2", 9, 40, 10, 100))
    assert left.overlaps(lines("L2", 105, 10))
    assert not left.overlaps(lines("L2", 400, 10, 10, 100))
    assert not left.overlaps(lines("L1", 0, 40))
