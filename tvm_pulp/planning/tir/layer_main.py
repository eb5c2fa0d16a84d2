"""The network on a cluster before any pass: one call per layer, whole tensors.

run(0, "conv2d", tensor("x", 0), tensor("conv_weight", 0), tensor("conv", 0))
"""

from __future__ import annotations

from typing import Any

from tvm_pulp.planning.tir.statements import END, RUN, TENSOR, main_function, place, statement
from tvm_pulp.planning.tir.tables import Tables


def layer_main(tables: Tables) -> Any:
    """Layers in the order of the plan."""
    statements = []
    for index, layer_plan in enumerate(tables.plan.layers):
        layer = layer_plan.layer
        operands = [place(TENSOR, t.storage.name, 0) for t in layer.operands]
        statements.append(statement(RUN, index, layer.operator, *operands))
    return main_function(tables.plan.network.name, [*statements, statement(END)])
