"""Imports ordinary (float) ONNX with TVM's importer, extended by the few operators it lacks."""

from __future__ import annotations

from typing import Any, ClassVar

from tvm import relax
from tvm.relax.frontend.onnx import onnx_frontend

from tvm_pulp.errors import UserError
from tvm_pulp.frontend.imported import Imported, ImportOptions
from tvm_pulp.frontend.onnx_file import Graph


class RMSNorm(onnx_frontend.OnnxOpConverter):
    """x / sqrt(mean(x^2) + eps) * weight over the last axis."""

    @classmethod
    def _impl_v1(cls, builder: Any, inputs: Any, attributes: Any, _parameters: Any) -> Any:
        x, weight = inputs[0], inputs[1]
        epsilon = float(attributes.get("eps", attributes.get("epsilon", 1e-5)))
        mean = relax.op.mean(relax.op.multiply(x, x), axis=-1, keepdims=True)
        root = relax.op.sqrt(relax.op.add(mean, relax.const(epsilon, "float32")))
        return relax.op.multiply(relax.op.divide(x, root), weight)


class PlainImporter(onnx_frontend.ONNXGraphImporter):
    """TVM's importer plus our converters; all unknown operators are named at once."""

    EXTRA: ClassVar[dict[str, Any]] = {"RMSNorm": RMSNorm}

    def _check_for_unsupported_ops(self, graph: Any) -> None:
        known = onnx_frontend._get_convert_map()
        bad = sorted(
            {
                f"{n.op_type} (node '{n.name or n.output[0]}')"
                for n in graph.node
                if n.op_type not in known and n.op_type not in self.EXTRA and n.op_type not in ("Constant", "If")
            }
        )
        if bad:
            raise UserError(f"unsupported ONNX operators: {', '.join(bad)}: replace them by standard ones")

    def _convert_operator(self, op_name: str, inputs: Any, attrs: Any, opset: int) -> Any:
        if op_name not in self.EXTRA:
            return super()._convert_operator(op_name, inputs, attrs, opset)
        convert = self.EXTRA[op_name].get_converter(opset)
        return self.bb.normalize(convert(self.bb, inputs, attrs, [self._nodes, self._params]))


def import_plain(graph: Graph, options: ImportOptions) -> Imported:
    """A float model as Relax; it stays float."""
    shapes = {}
    for name, (dims, _) in graph.inputs.items():
        shape = options.input_shapes.get(name, dims)
        if any(not isinstance(d, int) for d in shape):
            raise UserError(f"input '{name}' has a dynamic shape {list(dims)}: fix it with --input-shapes")
        shapes[name] = list(shape)
    try:
        importer = PlainImporter(shapes, "float32")
        module = importer.from_onnx(graph.model.graph, graph.opset)
    except UserError:
        raise
    except Exception as error:  # the importer raises many classes for what it does not know
        reason = str(error).strip().split("\n")[-1][:200]
        raise UserError(f"TVM's ONNX importer cannot read this model ({reason}): simplify or re-export it") from None
    module = relax.transform.DecomposeOpsForInference()(module)
    function = module["main"]
    if function.attrs and "params" in function.attrs:
        module["main"] = function.without_attr("params")
    return Imported(module, tuple(graph.inputs), graph.outputs, "float")
