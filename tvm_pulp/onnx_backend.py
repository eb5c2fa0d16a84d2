"""ONNX's own interface of backends: models and single nodes are compiled and run behind `onnx.backend.base.Backend`.

The module is a backend, too, as tools that load one by its name expect: `BackendTest(tvm_pulp.onnx_backend, __name__)`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx.backend.base import Backend as OnnxBackend
from onnx.backend.base import BackendRep, namedtupledict

from tvm_pulp import soc as socs
from tvm_pulp.api import compile as compile_model
from tvm_pulp.app import App
from tvm_pulp.compilation import Compilation
from tvm_pulp.compile_options import CompileOptions, check_option_names
from tvm_pulp.entry_point import silent
from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.frontend.library_errors import refuse_library_errors
from tvm_pulp.frontend.onnx_constant_operands import deciding_values
from tvm_pulp.frontend.onnx_file import Graph, from_model
from tvm_pulp.frontend.onnx_protos import constant_of, with_nodes
from tvm_pulp.frontend.onnx_truth import truth_values

__all__ = ["Backend", "Prepared", "is_compatible", "prepare", "run_model", "run_node", "supports_device"]

# The name that ONNX gives to the machine of the caller.
_THIS_MACHINE = "CPU"


class Prepared(BackendRep):
    """A model for a device, built at the first run and kept.

    Compiled programs have fixed shapes. Where an input decides them (the shape of a Reshape, the axes of a sum) or has
    a size that the file leaves open, the model is compiled for what the first run gives, and anew where that changes.
    """

    def __init__(self, model: Any, options: Mapping[str, Any]) -> None:
        self._model, self._options = model, options
        graph = from_model(model)
        self._inputs = tuple(graph.inputs)
        # Programs return bytes for them.
        self._truth = truth_values(model.graph.output)
        self._deciding = _deciding_inputs(graph)
        self._open = [name for name, (dims, _) in graph.inputs.items() if not all(isinstance(d, int) for d in dims)]
        # What it was compiled for, and the program.
        self._made: tuple[Any, App] | None = None
        if self._deciding or self._open:
            check_option_names(options)
            Compilation(model, CompileOptions(**options))
        else:
            self._compiled({})

    @property
    def app(self) -> App | None:
        """The compiled program; None where it waits for the first inputs."""
        return None if self._made is None else self._made[1]

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Outputs in graph order, which can be asked for by their names; inputs by name, or in graph order."""
        refuse_if(kwargs, f"run() has no option {', '.join(kwargs)}: give the options of a compilation to prepare()")
        given = {name: np.asarray(array) for name, array in _by_name(inputs, self._inputs).items()}
        app = self._compiled(given)
        result = app.run({name: array for name, array in given.items() if name not in self._deciding})
        names = [d["name"] for d in app.metadata["tvm_pulp"]["outputs"]]
        made = (result.outputs[name].astype(bool) if name in self._truth else result.outputs[name] for name in names)
        return namedtupledict("Outputs", names)(*made)

    def _compiled(self, given: Mapping[str, np.ndarray]) -> App:
        """The program for these values and shapes of the inputs that decide what is compiled."""
        values = {name: given[name] for name in self._deciding}
        shapes = {name: given[name].shape for name in self._open if name not in values}
        key = ([(a.tobytes(), a.dtype, a.shape) for a in values.values()], shapes)
        if self._made is None or self._made[0] != key:
            model = with_nodes(self._model, self._model.graph.node, [constant_of(n, a) for n, a in values.items()])
            options = dict(self._options)
            if shapes:
                options["input_shapes"] = {**shapes, **options.get("input_shapes", {})}
            self._made = key, compile_model(model, progress=silent, **options)
        return self._made[1]


class Backend(OnnxBackend):
    """This compiler as a backend: device CPU is this machine, any other a SoC by its name.

    Options of `prepare` are those of `tvm_pulp.compile`, for instance `l1="64k"`.
    """

    @classmethod
    def prepare(cls, model: Any, device: str = _THIS_MACHINE, **kwargs: Any) -> Prepared:
        """The model, compiled; a user error says in one sentence why it is not."""
        soc = _soc_of(device)
        if soc is None:
            known = ", ".join([_THIS_MACHINE, *(name for name in socs.names() if name != "host")])
            raise UserError(f"there is no device '{device}': choose one of {known}")
        return Prepared(model, {"soc": soc, **kwargs})

    @classmethod
    def is_compatible(cls, model: Any, device: str = _THIS_MACHINE, **kwargs: Any) -> bool:
        """Tell if `prepare` takes the model."""
        try:
            cls.prepare(model, device, **kwargs)
        except UserError:
            return False
        return True

    @classmethod
    def run_model(cls, model: Any, inputs: Any, device: str = _THIS_MACHINE, **kwargs: Any) -> tuple[Any, ...]:
        """Compile, run once, forget."""
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def run_node(
        cls,
        node: Any,
        inputs: Any,
        device: str = _THIS_MACHINE,
        outputs_info: Sequence[tuple[Any, tuple[int, ...]]] | None = None,
        **kwargs: Any,
    ) -> tuple[Any, ...]:
        """Run one operator. Operands behind the first that are one number or a row of numbers become constants."""
        opset = int(kwargs.pop("opset_version", onnx.defs.onnx_opset_version()))
        names = list(dict.fromkeys(name for name in node.input if name))
        given = {name: np.asarray(array) for name, array in _by_name(inputs, names).items()}
        constants = [name for name in names[1:] if given[name].ndim <= 1]
        model = _model_of(node, given, constants, outputs_info, opset)
        return cls.run_model(model, {n: a for n, a in given.items() if n not in constants}, device, **kwargs)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Tell if a name means this machine or a SoC."""
        return _soc_of(device) is not None


def _soc_of(device: str) -> str | None:
    """The SoC that a device's name means; None where it means none. ONNX counts devices of a kind: CPU:0."""
    if device in (_THIS_MACHINE, f"{_THIS_MACHINE}:0"):
        return "host"
    return device.lower() if device.lower() in socs.names() else None


def _deciding_inputs(graph: Graph) -> list[str]:
    """Inputs that decide shapes: operands that must be constant, and rows of numbers that those are computed from."""
    direct, sources = deciding_values(graph.model.graph.node)
    return [n for n, (dims, _) in graph.inputs.items() if n in direct or (n in sources and len(dims) <= 1)]


def _by_name(inputs: Any, names: Sequence[str]) -> dict[str, Any]:
    """Inputs that a caller gave as a dictionary, as a list, or as the only array."""
    if isinstance(inputs, Mapping):
        missing = [name for name in names if name not in inputs]
        refuse_if(missing, f"no array for {', '.join(missing)}: give one for every input")
        return dict(inputs)
    arrays = [inputs] if isinstance(inputs, np.ndarray) else list(inputs)
    refuse_if(
        len(arrays) != len(names),
        f"{len(arrays)} arrays for {len(names)} inputs ({', '.join(names)}): give one array for every input",
    )
    return dict(zip(names, arrays, strict=True))


def _model_of(
    node: Any,
    given: Mapping[str, np.ndarray],
    constants: Sequence[str],
    outputs_info: Sequence[tuple[Any, tuple[int, ...]]] | None,
    opset: int,
) -> Any:
    """A model of one node; its outputs have the types that are stated, else those that ONNX infers."""
    helper = onnx.helper

    def value(name: str, dtype: Any, shape: Sequence[int]) -> Any:
        return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape)

    names = [name for name in node.output if name]
    stated = [value(n, *info) for n, info in zip(names, outputs_info, strict=True)] if outputs_info else []
    graph = helper.make_graph(
        [node],
        "node",
        [value(name, array.dtype, array.shape) for name, array in given.items() if name not in constants],
        stated or [onnx.ValueInfoProto(name=name) for name in names],
        [onnx.numpy_helper.from_array(given[name], name) for name in constants],
    )
    opsets = [helper.make_opsetid(node.domain, opset)]
    with refuse_library_errors(f"ONNX cannot tell what the results of {node.op_type} are", ": correct the node"):
        model = helper.make_model(graph, opset_imports=opsets)
        return model if stated else onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)


prepare = Backend.prepare
is_compatible = Backend.is_compatible
run_model = Backend.run_model
run_node = Backend.run_node
supports_device = Backend.supports_device
