"""Gets hold of a StableHLO program: lowered by JAX from functions and modules, or read from a file."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from tvm_pulp.errors import refuse_if
from tvm_pulp.frontend.imported import refuse_unknown_inputs
from tvm_pulp.frontend.library_errors import first_line, installed, refuse_library_errors
from tvm_pulp.frontend.open_program import OpenProgram
from tvm_pulp.frontend.stablehlo_program.module_reader import Reader
from tvm_pulp.frontend.stablehlo_program.node import StablehloNode, constant
from tvm_pulp.frontend.stablehlo_program.recorded_values import recorded_values
from tvm_pulp.frontend.stablehlo_program.translate import Translation


def import_jax(what: str) -> Any:
    """JAX; its library is also what reads StableHLO."""
    return installed("jax", "JAX", what, "jax")


@dataclass(frozen=True)
class OwnValues:
    """Results that a model returns, in order, and those of its layers by the user's names."""

    results: Sequence[np.ndarray]
    layers: dict[str, np.ndarray] = field(default_factory=dict)


@dataclass(frozen=True)
class StablehloProgram:
    """A module in memory, the parameters that its first arguments are, and names of its inputs and outputs."""

    module: Any
    # By the path of each.
    parameters: Sequence[tuple[str, np.ndarray]]
    inputs: Sequence[str]
    outputs: Sequence[str]
    # Whose values the program's are.
    framework: str = "JAX"
    # TensorFlow passes its variables behind the inputs.
    parameters_last: bool = False
    # Else names of values are the same for all sizes of inputs.
    fixed: bool = True
    # What the framework makes of inputs without this program; a file has none.
    own: Callable[[Sequence[np.ndarray]], OwnValues] | None = None

    @cached_property
    def translation(self) -> Translation:
        """The program as ONNX, made once."""
        with self.module.context:
            reader = Reader(self.module)
            given = [constant(array, f"@{path}") for path, array in self.parameters]
            count = len(reader.arguments) - len(given)
            free = reader.arguments[:count] if self.parameters_last else reader.arguments[len(given) :]
            names = list(self.inputs) or _input_names(reader, len(given))
            refuse_if(
                len(free) != len(names), f"the program takes {len(free)} inputs, not {len(names)}: export it again"
            )
            inputs = [
                StablehloNode("argument", (), shape, dtype, label=name)
                for name, (shape, dtype) in zip(names, free, strict=True)
            ]
            outputs = reader.read(self._ordered(given, inputs))
        ends = list(self.outputs) or [f"output_{n}" if n else "output" for n in range(len(outputs))]
        return Translation(inputs, outputs, ends, self.framework, fixed=self.fixed)

    def _ordered(self, parameters: Sequence[Any], inputs: Sequence[Any]) -> list[Any]:
        """Arguments as the main function takes them."""
        return [*inputs, *parameters] if self.parameters_last else [*parameters, *inputs]

    def onnx_model(self, shapes: Mapping[str, Sequence[int]]) -> Any:
        model = self.translation.model
        known = {i.name: [d.dim_value for d in i.type.tensor_type.shape.dim] for i in model.graph.input}
        refuse_unknown_inputs("--input-shapes", shapes, known)
        for name, shape in shapes.items():
            refuse_if(
                list(shape) != known[name],
                f"--input-shapes: input '{name}' was exported with the shape {known[name]}: export it with another",
            )
        return model

    def values(self, inputs: Sequence[np.ndarray]) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """Results of nodes by name, as XLA computes them in this program, and layers of the framework.

        Outputs are the framework's own where there is one.
        """
        held = self.translation.places
        parameters = [array for _, array in self.parameters]
        found, results = recorded_values(self.module, sorted(held), self._ordered(parameters, inputs))
        own = OwnValues(results) if self.own is None else self.own(inputs)
        model = self.translation.model
        given = {i.name: array for i, array in zip(model.graph.input, inputs, strict=True)}
        ends = {o.name: np.asarray(array) for o, array in zip(model.graph.output, own.results, strict=True)}
        made = {name: np.ascontiguousarray(found[n].transpose(p.order)) for n, (name, p) in held.items()}
        return given | made | ends, own.layers


def _input_names(reader: Reader, first: int) -> list[str]:
    """Names of the arguments as the module has them, else numbers."""
    made: list[str] = []
    for number in range(first, len(reader.arguments)):
        name = reader.argument_name(number) or f"input_{number - first}"
        made.append(name if name not in made else f"{name}_{number}")
    return made


def _class_and_line(error: Exception) -> str:
    return f"{type(error).__name__}: {first_line(error)}"


def lowered(
    function: Callable[..., Any],
    parameters: Any,
    example_inputs: Any,
    name: str,
    framework: str = "JAX",
    path_of: Callable[[Any], str] | None = None,
    layers_of: Callable[..., dict[str, Any]] | None = None,
    signature: Callable[..., Any] | None = None,
) -> Any:
    """`function(parameters, *inputs)` as a program for inputs like these.

    `layers_of`, of the same arguments, gives what layers compute, by the user's names; `signature` names the inputs.
    """
    jax = import_jax(name)
    refuse_if(example_inputs is None, f"{name} is traced for inputs of fixed shapes: give example_inputs=(array, ...)")
    named = dict(example_inputs) if isinstance(example_inputs, Mapping) else {}
    given = () if named else example_inputs if isinstance(example_inputs, Sequence) else (example_inputs,)
    leaves, structure = jax.tree_util.tree_flatten(example_inputs)
    if any(not isinstance(size, int) for leaf in leaves for size in getattr(leaf, "shape", ())):
        # With all lengths stated it is the program of every other model.
        def at(shapes: Mapping[str, Sequence[int]]) -> Any:
            specs = [jax.ShapeDtypeStruct(tuple(shapes[n]), dtype) for n, (dtype, _) in stated.items()]
            inner = jax.tree_util.tree_unflatten(structure, specs)
            made = lowered(function, parameters, inner, name, framework, path_of, layers_of, signature)
            return replace(made, fixed=False).translation.model

        def with_numbers(numbers: Mapping[Any, int]) -> Any:
            sizes = {
                n: [d if isinstance(d, int) else int(d._evaluate(numbers)) for d in s] for n, (_, s) in stated.items()
            }
            return at(sizes)

        free = jax.tree_util.tree_flatten_with_path((tuple(given), named))[0]
        labels = _input_labels(signature, given, free)
        stated = {n: (str(leaf.dtype), leaf.shape) for n, leaf in zip(labels, leaves, strict=True)}
        return OpenProgram(stated, lambda size: size._get_vars(), with_numbers, at)
    arguments = jax.tree_util.tree_map(_array, (parameters, tuple(given), named))
    way_out = ": make jax.jit(model)(*example_inputs) work first"
    with refuse_library_errors(f"JAX cannot trace {name}", way_out, _class_and_line):
        made = jax.jit(lambda p, a, k: function(p, *a, **k), keep_unused=True).lower(*arguments)
        held = jax.tree_util.tree_flatten_with_path(arguments[0])[0]
        free = jax.tree_util.tree_flatten_with_path(arguments[1:])[0]
        results = jax.tree_util.tree_flatten_with_path(made.out_info)[0]
        module = made.compiler_ir("stablehlo")
    as_path = path_of or path_text
    inputs = _input_labels(signature, given, free)
    outputs = ["_".join(["output", *_keys(path)]) if not _named(path) else "_".join(_keys(path)) for path, _ in results]
    order = jax.tree_util.tree_structure(arguments[1:])

    def own(values: Sequence[np.ndarray]) -> OwnValues:
        positional, by_name = jax.tree_util.tree_unflatten(order, list(values))
        given_all = (arguments[0], *positional)
        made = jax.tree_util.tree_leaves(jax.jit(function)(*given_all, **by_name))
        layers = {} if layers_of is None else jax.jit(layers_of)(*given_all, **by_name)
        return OwnValues([np.asarray(m) for m in made], {n: np.asarray(v) for n, v in layers.items()})

    parameter_list = [(as_path(path), np.asarray(array)) for path, array in held]
    return StablehloProgram(module, parameter_list, inputs, outputs, framework, own=own)


def _input_labels(signature: Any, given: Any, free: Any) -> list[str]:
    names = _positional(signature, len(given))
    return ["_".join([names[k[1]], *k[2:]] if k[0] == 0 else k[1:]) for k in map(_raw, (p for p, _ in free))]


def _array(value: Any) -> Any:
    return np.asarray(value) if hasattr(value, "detach") else value


def _raw(path: Any) -> list[Any]:
    return [getattr(k, "idx", getattr(k, "key", getattr(k, "name", ""))) for k in path[:2]] + _keys(path[2:])


def _keys(path: Any) -> list[str]:
    """Keys of a path in a tree, as texts."""
    found = [getattr(k, "key", getattr(k, "name", getattr(k, "idx", ""))) for k in path]
    return [str(k) for k in found]


def path_text(path: Any) -> str:
    """A path in a tree of parameters: `params/Dense_0/kernel`."""
    return "/".join(_keys(path))


def _named(path: Any) -> bool:
    return bool(path) and isinstance(getattr(path[0], "key", getattr(path[0], "name", None)), str)


def _positional(signature: Any, count: int) -> list[str]:
    """Names of positional arguments; numbers where there are none."""
    try:
        kinds = list(inspect.signature(signature).parameters.values()) if signature is not None else []
    except (TypeError, ValueError):
        kinds = []
    known = [p.name for p in kinds if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return [known[n] if n < len(known) else f"input_{n}" for n in range(count)]
