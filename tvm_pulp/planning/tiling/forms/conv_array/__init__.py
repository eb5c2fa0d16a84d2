"""Forms of convolutions and matrix products on arrays whose arithmetic is that of `tvm_pulp.uma.conv_array`."""

from tvm_pulp.planning.tiling.forms.conv_array.array_backend import ArrayBackend, Members, prepare_for_array
from tvm_pulp.planning.tiling.forms.conv_array.array_form import (
    ACTIVATION_SLACK,
    POINTERS,
    ArrayContext,
    ArrayDescription,
    ArrayForm,
    JobForm,
)
from tvm_pulp.planning.tiling.forms.conv_array.forms import DenseForm, channel_axis, rows_of
from tvm_pulp.planning.tiling.forms.conv_array.row_form import RowForm
from tvm_pulp.planning.tiling.forms.conv_array.strategy import by_rows, conv2d_forms, known_arithmetic
from tvm_pulp.planning.tiling.forms.conv_array.summed import residual_of
from tvm_pulp.uma.conv_array.modes import CONTEXTS

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
