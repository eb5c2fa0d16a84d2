"""Imports ordinary (float) ONNX with TVM's importer, extended by the few operators it lacks."""

import contextlib
import io
import re
import warnings
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from tvm import relax
from tvm.relax.frontend.onnx import onnx_frontend

from tvm_pulp.errors import UserError
from tvm_pulp.frontend.framework_reason import framework_reason
from tvm_pulp.frontend.imported import Imported, ImportOptions
from tvm_pulp.frontend.onnx_conversion import Conversion
from tvm_pulp.frontend.onnx_convolutions import conv, conv_transpose
from tvm_pulp.frontend.onnx_file import Graph
from tvm_pulp.frontend.onnx_gathering_operators import gather_elements, gather_nd
from tvm_pulp.frontend.onnx_moving_operators import gather, pad, tile
from tvm_pulp.frontend.onnx_qdq_operators import clip, extreme
from tvm_pulp.frontend.onnx_resize import resize
from tvm_pulp.frontend.onnx_standard import source_nodes, standard_graph
from tvm_pulp.frontend.relax_checks import check_module
from tvm_pulp.qnn import lineage
from tvm_pulp.qnn.abandoned_builder import closed_on_error


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
    """TVM's importer plus our converters."""

    EXTRA: ClassVar[dict[str, Any]] = {"RMSNorm": RMSNorm, "SimplifiedLayerNormalization": RMSNorm}
    # Standard operators whose conversion by TVM is wrong, or hides what they are.
    OWN: ClassVar[dict[str, Callable[[Conversion], Any]]] = {
        "Clip": clip,
        "Conv": conv,
        "ConvTranspose": conv_transpose,
        "Gather": gather,
        "GatherElements": gather_elements,
        "GatherND": gather_nd,
        "Max": extreme(relax.op.maximum),
        "Min": extreme(relax.op.minimum),
        "Pad": pad,
        "Resize": resize,
        "Tile": tile,
    }

    # The node being converted: its name as an identifier, and as the file has it.
    _current = ""
    _node = ""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        # Variables and the nodes whose results they are.
        self.named: dict[str, lineage.Lineage] = {}

    @classmethod
    def known(cls) -> set[str]:
        """Operators that are converted."""
        return {*onnx_frontend._get_convert_map(), *cls.EXTRA, *cls.OWN}

    def _check_for_unsupported_ops(self, graph: Any) -> None:
        """Done before: `standard_graph` names all unknown operators at once."""

    def _convert_operator(self, op_name: str, inputs: Any, attrs: Any, opset: int) -> Any:
        """A node's result, bound under the node's name; what it is made of carries the same name."""
        outer = self._current
        self._node = self._node if outer else str(attrs["tvm_custom"]["name"])
        self._current = outer or _identifier(self._node)
        try:
            return self._bound(self._converted(op_name, inputs, attrs, opset))
        except Exception as error:  # TVM raises many classes for what it does not know
            if outer:
                raise
            raise _refusal(f"node '{attrs['tvm_custom']['name']}' ({op_name})", inputs, error) from None
        finally:
            self._current = outer

    def _sanitize_name(self, name: str) -> str:
        """Names of graph inputs, as TVM's printer and its temporaries may use them."""
        return str(self._name_supply.fresh_name(_identifier(name)))

    def _bound(self, converted: Any) -> Any:
        if isinstance(converted, relax.Tuple):
            return relax.Tuple([self._bound(field) for field in converted.fields])
        if isinstance(converted, relax.Call) and isinstance(converted.ty, relax.TensorType):
            return self.bind(converted)
        if isinstance(converted, relax.Var):
            self.named.setdefault(str(converted.name), lineage.Lineage(self._current, (self._node,)))
        return converted

    def bind(self, call: Any) -> Any:
        """A variable called after the node."""
        variable = self.bb.emit(call, name_hint=self._current)
        self.named[str(variable.name)] = lineage.Lineage(self._current, (self._node,))
        return variable

    def _layer_norm(self, inputs: Any, attrs: Any, opset: int) -> Any:
        """TVM's conversion, not yet normalized: its call would lose the node's name."""
        convert = onnx_frontend.LayerNormalization.get_converter(opset)
        made = convert(self.bb, inputs, attrs, [self._nodes, self._params])
        return relax.Tuple([self.bb.normalize(f) for f in made.fields])

    def _converted(self, op_name: str, inputs: Any, attrs: Any, opset: int) -> Any:
        if op_name in self.OWN:
            converted = self.OWN[op_name](Conversion(self, op_name, list(inputs), dict(attrs), opset))
            return converted if isinstance(converted, relax.Tuple) else self.bb.normalize(converted)
        if op_name == "LayerNormalization":
            return self._layer_norm(inputs, attrs, opset)
        if op_name not in self.EXTRA:
            return super()._convert_operator(op_name, inputs, attrs, opset)
        convert = self.EXTRA[op_name].get_converter(opset)
        return self.bb.normalize(convert(self.bb, inputs, attrs, [self._nodes, self._params]))

    def stock(self, op_name: str, inputs: Sequence[Any], attrs: dict[str, Any], opset: int) -> Any:
        """TVM's own conversion of an operator."""
        return super()._convert_operator(op_name, operand_list(inputs), attrs, opset)


def operand_list(operands: Sequence[Any]) -> Any:
    """Operands as TVM's converters take them."""
    given = onnx_frontend.onnx_input()
    given.extend(operands)
    return given


def _refusal(node: str, inputs: Sequence[Any], error: Exception) -> UserError:
    """One sentence that begins with the node."""
    if isinstance(error, UserError):
        text = str(error)
        return error if text.startswith("node '") else UserError(f"{node}: {text}")
    kinds: list[Any] = [getattr(getattr(x, "ty", None), "shape", None) for x in inputs]
    shapes = [[getattr(d, "value", d) for d in k.values] for k in kinds if hasattr(k, "values")]
    reason = framework_reason(error, shapes)
    return UserError(f"{node}: it {reason}: re-export the model")


def _identifier(name: str) -> str:
    """A node's name as an identifier; `main` is the function's own name."""
    base = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_")[:48].rstrip("_") or "value"
    return f"v{base}" if base[0].isdigit() or base == "main" else base


def import_plain(graph: Graph, options: ImportOptions) -> Imported:
    """A float model as Relax; it stays float."""
    module = run_importer(PlainImporter, graph, options)
    return Imported(module, tuple(graph.inputs), graph.outputs, "float", nodes=source_nodes(graph))


def run_importer(kind: type[PlainImporter], graph: Graph, options: ImportOptions) -> Any:
    """The graph as a checked Relax module."""
    standard, shapes = standard_graph(graph, options, kind.known())
    try:
        # The importer prints and warns; what matters is in the exception.
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            importer = kind(shapes, "float32")
            with closed_on_error(importer.bb):
                module = importer.from_onnx(standard, graph.opset)
            module = relax.transform.DecomposeOpsForInference()(module)
    except UserError:
        raise
    except Exception as error:  # the importer raises many classes for what it does not know
        reason = " ".join(str(error).split())[-200:] or type(error).__name__
        raise UserError(f"TVM's ONNX importer cannot read this model ({reason}): simplify or re-export it") from None
    check_module(module)
    function = module["main"]
    if function.attrs and "params" in function.attrs:
        module["main"] = function.without_attr("params")
    return lineage.of_imported(module, importer.named)
