"""Forms of convolutions and matrix products on arrays whose arithmetic is that of `tvm_pulp.uma.conv_array`."""

from tvm_pulp.planning.tiling.forms.conv_array.array_form import (
    ACTIVATION_SLACK,
    POINTERS,
    ArrayContext,
    ArrayDescription,
    ArrayForm,
    JobForm,
)
from tvm_pulp.planning.tiling.forms.conv_array.average_pool import average_pool_strategy
from tvm_pulp.planning.tiling.forms.conv_array.forms import DenseForm, channel_axis, rows_of
from tvm_pulp.planning.tiling.forms.conv_array.job_words import pointers, word_text
from tvm_pulp.planning.tiling.forms.conv_array.pair_sum import pair_sum_patterns, pair_sum_strategy
from tvm_pulp.planning.tiling.forms.conv_array.row_form import RowForm
from tvm_pulp.planning.tiling.forms.conv_array.strategy import by_rows, conv2d_forms, known_arithmetic
from tvm_pulp.planning.tiling.forms.conv_array.summed import residual_of, summed_patterns, summed_strategy
from tvm_pulp.uma.conv_array.modes import CONTEXTS

__all__ = [
    "ACTIVATION_SLACK",
    "CONTEXTS",
    "POINTERS",
    "ArrayContext",
    "ArrayDescription",
    "ArrayForm",
    "DenseForm",
    "JobForm",
    "RowForm",
    "average_pool_strategy",
    "by_rows",
    "channel_axis",
    "conv2d_forms",
    "known_arithmetic",
    "pair_sum_patterns",
    "pair_sum_strategy",
    "pointers",
    "residual_of",
    "rows_of",
    "summed_patterns",
    "summed_strategy",
    "word_text",
]
