"""Every layer beside what a framework makes of the same inputs: is the compiled program the model?

`tvm_pulp.planning.check` checks plans; this checks results.
"""

from tvm_pulp.report.verify.compare_layers import compare_layers
from tvm_pulp.report.verify.layer_table import LayerRow, LayerTable, print_table
from tvm_pulp.report.verify.reference import Reference, given_values, model_values

__all__ = [
    "LayerRow",
    "LayerTable",
    "Reference",
    "compare_layers",
    "given_values",
    "model_values",
    "print_table",
]
