"""A network as ONNX with one node per region, for Netron: domain `tvm_pulp.<engine>`, what it does as the operator."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from onnx import helper, numpy_helper

from tvm_pulp.planning.cpu import CpuPlan
from tvm_pulp.planning.tiling.plan import Plan
from tvm_pulp.qnn.network import Layer, Network, Tensor

_OPSET, _IR_VERSION = 17, 8


def plan_model(plan: Plan) -> Any:
    """Regions in the order in which they run, with engine, form, tiles and expected cycles."""
    facts = {
        entry.layer: {
            "engine": region.engine,
            "plan_form": entry.tiling.form.name,
            "plan_tile": list(entry.tiling.size),
            "plan_tiles": len(entry.tiles),
            "plan_cycles": entry.estimated_cycles,
        }
        for entry, region in zip(plan.layers, plan.regions(), strict=True)
    }
    return network_model(plan.network, facts)


def cpu_plan_model(plan: CpuPlan) -> Any:
    """Layers with their forms on a CPU by itself."""
    forms, soc = plan.decisions.forms, plan.request.soc
    facts = {layer: {"engine": layer.codegen or soc, "plan_form": forms[layer.name]} for layer in plan.whole.layers}
    return network_model(plan.whole, facts)


def network_model(network: Network, facts: Mapping[Layer, Mapping[str, Any]]) -> Any:
    """One node per layer with what is known of it. Views take no node: whoever reads one reads what it shows."""
    nodes: list[Any] = []
    constants: dict[str, Tensor] = {}
    shapes: dict[str, Tensor] = {}
    for layer in network.layers:
        known = facts.get(layer, {"engine": layer.codegen or "host"})
        for tensor in (*layer.inputs, *layer.outputs):
            stored = constants if tensor.storage.kind == "constant" else shapes
            stored[tensor.storage.name] = tensor.storage
        attributes = {**_attributes(layer), **known}
        nodes.append(
            helper.make_node(
                layer.operator,
                [t.storage.name for t in layer.inputs],
                [t.storage.name for t in layer.outputs],
                name=layer.name,
                domain=f"tvm_pulp.{known['engine']}",
                **attributes,
            )
        )
    ends = {t.storage.name for t in (*network.inputs, *network.outputs)}
    graph = helper.make_graph(
        nodes,
        network.name,
        [_info(t.storage) for t in network.inputs],
        [_info(t) for t in dict.fromkeys(t.storage for t in network.outputs)],
        [numpy_helper.from_array(np.ascontiguousarray(t.data), name) for name, t in constants.items()],
        value_info=[_info(t) for name, t in shapes.items() if name not in ends],
    )
    domains = ["", *sorted({node.domain for node in nodes})]
    opsets = [helper.make_opsetid(domain, 1 if domain else _OPSET) for domain in domains]
    return helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION, producer_name="tvm_pulp")


def _info(tensor: Tensor) -> Any:
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(tensor.spec.dtype))
    return helper.make_tensor_value_info(tensor.name, kind, list(tensor.spec.shape))


def _attributes(layer: Layer) -> dict[str, Any]:
    """The operator's attributes; those of a region's operators with their names in front. ONNX has no empty lists."""
    named = {
        f"{part.operator}{number}_{key}": value
        for number, part in enumerate(layer.parts)
        for key, value in part.attributes.items()
    }
    stated = {**layer.attributes, **named, "macs": layer.macs}
    return {key: value for key, value in stated.items() if value != [] and value is not None}
