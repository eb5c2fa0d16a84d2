"""Gets hold of a PyTorch program: from a module, from an exported program, from a file; in operators that are known."""

import contextlib
import importlib
import logging
import warnings
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from tvm_pulp.errors import Note, UserError
from tvm_pulp.frontend.imported import refuse_unknown_inputs
from tvm_pulp.frontend.library_errors import first_line, installed, quiet, refuse_library_errors
from tvm_pulp.frontend.torch_program.archive import read_archive
from tvm_pulp.frontend.torch_program.deserialize import deserialized
from tvm_pulp.frontend.torch_program.open_sizes import choices

# Statements about operands that were true when the program was traced.
CHECKS = frozenset(
    {"aten._assert_tensor_metadata", "aten._assert_scalar", "aten._assert_async.msg"}
    | {"aten.sym_constrain_range", "aten.sym_constrain_range_for_size"}
)
# Decompositions may themselves use operators that are not known.
_ROUNDS = 6


def import_torch(what: str) -> Any:
    """PyTorch, with the operators of quantized programs registered."""
    torch = installed("torch", "PyTorch", what, "torch")
    with quiet(logging.ERROR), contextlib.suppress(ImportError):
        # Its import registers the operators that PT2E writes.
        importlib.import_module("torch.ao.quantization.fx._decomposed")
    with quiet(logging.ERROR), contextlib.suppress(Exception):
        # Of torchao only the operators are needed, and a release that does not fit must not stand in the way.
        import torchao.quantization.pt2e  # noqa: F401
    return torch


def load_program(path: Path) -> Any:
    """The program in a file that `torch.export.save` wrote."""
    import_torch(f"'{path}'")
    archive = read_archive(path)
    refused = f"'{path}' is not a readable program of torch.export", ": write it with torch.export.save"
    with refuse_library_errors(*refused, first_line), quiet(logging.ERROR):
        return deserialized(archive, f"'{path}'")


def as_program(model: Any, example_inputs: Any) -> Any:
    """An exported program as it is; a module, exported for inputs like these."""
    torch = import_torch(f"a model of type {type(model).__name__}")
    if isinstance(model, torch.export.ExportedProgram):
        if example_inputs is not None:
            return exported(model.module(), example_inputs)
        return model
    if not isinstance(model, torch.nn.Module):
        raise UserError(
            f"a {type(model).__name__} is no model: give a path, zoo:NAME, an onnx.ModelProto, a torch.nn.Module or an "
            "ExportedProgram"
        )
    if example_inputs is None:
        raise UserError(
            f"{type(model).__name__} is exported for inputs of fixed shapes: give example_inputs=(tensor, ...)"
        )
    return exported(model, example_inputs)


def exported(module: Any, example_inputs: Any) -> Any:
    """A module as a program, as it computes when it is not trained."""
    import torch

    arguments, named = _arguments(example_inputs)
    training = {m: m.training for m in module.modules()}
    way_out = ": make torch.export.export(module, example_inputs) work first"
    try:
        for m in training:
            m.training = False
        refused = refuse_library_errors(f"torch.export cannot export {type(module).__name__}", way_out, first_line)
        with refused, quiet(logging.ERROR), torch.no_grad():
            return torch.export.export(module, arguments, named)
    finally:
        for m, mode in training.items():
            m.training = mode


def _arguments(example_inputs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Positional and named arguments: arrays become tensors."""
    import numpy as np
    import torch

    def tensor(value: Any) -> Any:
        return torch.from_numpy(value) if isinstance(value, np.ndarray) else value

    if isinstance(example_inputs, Mapping):
        return (), {str(k): tensor(v) for k, v in example_inputs.items()}
    given = example_inputs if isinstance(example_inputs, Sequence) else (example_inputs,)
    return tuple(map(tensor, given)), {}


def with_shapes(program: Any, shapes: Mapping[str, Sequence[int]]) -> Any:
    """The program with static shapes: those wanted, else a batch of one and the sizes of the example, with a note."""
    import torch

    inputs = user_inputs(program)
    refuse_unknown_inputs("--input-shapes", shapes, inputs)
    dynamic = [n for n, v in inputs.items() if any(not isinstance(d, int) for d in v.shape)]
    other = [n for n, s in shapes.items() if [str(d) for d in inputs[n].shape] != [str(d) for d in s]]
    if not dynamic and not other:
        return program
    fixed = [n for n in other if n not in dynamic]
    if fixed:
        raise UserError(
            f"--input-shapes: input '{fixed[0]}' was exported with the shape {list(inputs[fixed[0]].shape)}: export it "
            "with the shape you want, or with dynamic_shapes"
        )
    if program.example_inputs is None:
        examples = {}
    else:
        leaves = torch.utils._pytree.tree_leaves(program.example_inputs)
        examples = {name: tuple(leaf.shape) for name, leaf in zip(inputs, leaves, strict=True)}
    refused: Exception | None = None
    for chosen in choices(inputs, program.range_constraints, shapes, examples):
        given = [torch.zeros(chosen[name], dtype=value.dtype) for name, value in inputs.items()]
        arguments, named = torch.utils._pytree.tree_unflatten(given, program.call_spec.in_spec)
        try:
            with quiet(logging.ERROR):
                made = torch.export.export(program.module(), arguments, named)
        except Exception as error:  # a dimension outside of what the program allows
            refused = error
            continue
        _say_sizes({name: chosen[name] for name in dynamic if name not in shapes})
        return made
    if refused is None:
        raise UserError(f"input '{dynamic[0]}' has dynamic dimensions: state them with --input-shapes")
    raise UserError(f"--input-shapes: {first_line(refused)}") from None


def _say_sizes(chosen: Mapping[str, Sequence[int]]) -> None:
    """A note of the shapes that nobody stated."""
    if chosen:
        shapes = ",".join(f"{name}:[{','.join(map(str, shape))}]" for name, shape in chosen.items())
        text = f"the program leaves sizes open and is compiled for {shapes}: state others with --input-shapes"
        warnings.warn(text, Note, stacklevel=2)


def user_inputs(program: Any) -> dict[str, Any]:
    """Inputs that are tensors, by name: what tracing knows of each."""
    names = set(program.graph_signature.user_inputs)
    return {
        node.name: node.meta["val"]
        for node in program.graph.nodes
        if node.op == "placeholder" and node.name in names and hasattr(node.meta.get("val"), "shape")
    }


def is_number(node: Any) -> bool:
    """Tell if a node computes with sizes: its value is a number, known with them."""
    import torch

    return isinstance(node.meta.get("val"), (torch.SymInt, torch.SymFloat, torch.SymBool))


def in_known_operators(program: Any, known: Collection[str]) -> Any:
    """The program without side effects, in known operators as far as PyTorch can define others by them."""
    import torch

    def operators() -> set[Any]:
        # Sizes are numbers of tracing, however they are computed.
        nodes = (n for n in program.graph.nodes if n.op == "call_function" and not is_number(n))
        return {n.target for n in nodes if isinstance(n.target, torch._ops.OpOverload) and name_of(n) not in CHECKS}

    with quiet(logging.ERROR):
        if any(op._schema.is_mutable for op in operators()):
            program = _decomposed(program, {})
        for _ in range(_ROUNDS):
            unknown = {op for op in operators() if str(op).removesuffix(".default") not in known}
            if not unknown:
                break
            defined = torch.export.default_decompositions()
            table = {op: defined[op] for op in unknown if op in defined}
            more = torch._decomp.decomposition_table
            table |= {op: more[op] for op in unknown if op not in table and op in more}
            if not table:
                break
            program = _decomposed(program, table)
    return program


def _decomposed(program: Any, table: dict[Any, Any]) -> Any:
    refused = "PyTorch cannot write the program without operators that change tensors in place"
    with refuse_library_errors(refused, ": make program.run_decompositions({}) work first", first_line):
        return program.run_decompositions(table)


def name_of(node: Any) -> str:
    """`aten.conv2d.default` as `aten.conv2d`; other overloads keep their name."""
    return str(node.target).removesuffix(".default")
