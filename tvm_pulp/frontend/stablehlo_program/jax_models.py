"""Models of JAX in memory: functions, bound Flax modules, NNX and Equinox modules, exported programs."""

import functools
from typing import Any

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.frontend.stablehlo_program.program import StablehloProgram, import_jax, lowered, path_text


def jax_program(model: Any, example_inputs: Any) -> StablehloProgram:
    """Any of them as a program for inputs like these."""
    name = getattr(model, "__name__", type(model).__name__)
    import_jax(name)
    kinds = {f"{c.__module__.split('.')[0]}.{c.__name__}" for c in type(model).__mro__}
    places = {c.__module__ for c in type(model).__mro__}
    if "jax.Exported" in kinds:
        return _exported(model, example_inputs)
    if "flax.Module" in kinds:
        is_linen = any(p.startswith("flax.linen") for p in places)
        return (_linen if is_linen else _nnx)(model, example_inputs, name)
    if "equinox.Module" in kinds:
        return _equinox(model, example_inputs, name)
    if not callable(model):
        raise UserError(
            f"a {type(model).__name__} is no model: give a path, zoo:NAME, an onnx.ModelProto, a torch.nn.Module, an "
            "ExportedProgram, a Keras model, a function of TensorFlow or JAX, or a module of Flax or Equinox"
        )
    # What is bound is what was trained: its leaves are parameters, by name. Others hold theirs themselves.
    is_bound = isinstance(model, functools.partial) and not model.keywords
    function, bound = (model.func, model.args) if is_bound else (model, ())

    def call(parameters: Any, *inputs: Any, **named: Any) -> Any:
        return function(*parameters, *inputs, **named)

    return lowered(call, bound, example_inputs, name, path_of=lambda path: path_text(path[1:]), signature=model)


def _linen(module: Any, example_inputs: Any, name: str) -> StablehloProgram:
    refuse_if(module.scope is None, f"{name} is a Flax module without parameters: give {name}(...).bind(variables)")
    plain, variables = module.unbind()

    def call(held: Any, *inputs: Any, **named: Any) -> Any:
        return plain.apply(held, *inputs, **named)

    def layers(held: Any, *inputs: Any, **named: Any) -> dict[str, Any]:
        from flax.traverse_util import flatten_dict

        _, seen = plain.apply(held, *inputs, **named, capture_intermediates=True, mutable=["intermediates"])
        flat = flatten_dict(dict(seen["intermediates"]))
        return {"/".join(path[:-1]): made[0] for path, made in flat.items() if path[:-1] and hasattr(made[0], "shape")}

    return lowered(call, variables, example_inputs, name, layers_of=layers, signature=module.__call__)


def _nnx(module: Any, example_inputs: Any, name: str) -> StablehloProgram:
    from flax import nnx

    copied = nnx.clone(module)
    copied.eval()
    graph, trained, rest = nnx.split(copied, nnx.Any(nnx.Param, nnx.BatchStat), ...)

    def call(held: Any, *inputs: Any, **named: Any) -> Any:
        return nnx.merge(graph, held, rest)(*inputs, **named)

    return lowered(call, trained, example_inputs, name, signature=module.__call__)


def _equinox(module: Any, example_inputs: Any, name: str) -> StablehloProgram:
    import equinox

    arrays, rest = equinox.partition(equinox.nn.inference_mode(module), equinox.is_array)

    def call(held: Any, *inputs: Any, **named: Any) -> Any:
        return equinox.combine(held, rest)(*inputs, **named)

    return lowered(call, arrays, example_inputs, name, signature=module.__call__)


def _exported(exported: Any, example_inputs: Any) -> StablehloProgram:
    """The program that `jax.export.export` gave; example inputs have no effect on it."""
    from tvm_pulp.frontend.stablehlo_program.files import module_of

    refuse_if(example_inputs is not None, "example_inputs has no effect on a program that is exported already: drop it")
    return StablehloProgram(module_of(exported.mlir_module_serialized, "the program"), [], [], [])
