"""The library of engines that multiply bytes on an array of convolution columns; it is no engine by itself.

NEUREKA and NE16 import it: forms of convolutions and matrix products, arithmetic, passes, the base of their backends.
"""

from uma_backends.conv_array.array_backend import ArrayBackend, Members, prepare_for_array
from uma_backends.conv_array.array_description import POINTERS, ArrayDescription
from uma_backends.conv_array.forms.array_form import (
    ACTIVATION_SLACK,
    ArrayContext,
    ArrayForm,
    JobForm,
)
from uma_backends.conv_array.forms.basic_forms import DenseForm, channel_axis, rows_of
from uma_backends.conv_array.forms.row_form import RowForm
from uma_backends.conv_array.forms.strategy import by_rows, conv2d_forms, known_arithmetic
from uma_backends.conv_array.forms.summed import residual_of
from uma_backends.conv_array.modes import CONTEXTS

__all__ = [
    "ACTIVATION_SLACK",
    "CONTEXTS",
    "POINTERS",
    "ArrayBackend",
    "ArrayContext",
    "ArrayDescription",
    "ArrayForm",
    "DenseForm",
    "JobForm",
    "Members",
    "RowForm",
    "by_rows",
    "channel_axis",
    "conv2d_forms",
    "known_arithmetic",
    "prepare_for_array",
    "residual_of",
    "rows_of",
]
