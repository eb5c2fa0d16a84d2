"""Attributes of operators whose windows move along rows and columns."""

from collections.abc import Sequence

from tvm_pulp.qnn.record import Attributes
from tvm_pulp.quick_records import quick_record
from tvm_pulp.window import Window


@quick_record(kw_only=True, slots=False)
class StepAttributes(Attributes):
    """Operators with windows along rows and columns."""

    strides: tuple[int, int]
    dilation: tuple[int, int]


@quick_record(kw_only=True, slots=False)
class WindowAttributes(StepAttributes):
    """The same with padding: top, left, bottom, right."""

    pads: tuple[int, int, int, int]


@quick_record(kw_only=True, slots=False)
class KernelAttributes(WindowAttributes):
    """The same where no operand tells how large a window is."""

    kernel: tuple[int, int]


def windows(attributes: StepAttributes, kernel: Sequence[int]) -> tuple[Window, Window]:
    """Windows along rows and along columns."""
    (down, across), (gap_down, gap_across) = attributes.strides, attributes.dilation
    top, left, bottom, right = attributes.pads if isinstance(attributes, WindowAttributes) else (0, 0, 0, 0)
    rows, columns = kernel
    return Window(rows, down, gap_down, top, bottom), Window(columns, across, gap_across, left, right)
