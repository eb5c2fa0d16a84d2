"""Texts that a program of `torch.export` may hold in its JSON, checked before PyTorch reads it.

PyTorch evaluates some of the texts (sizes, guards), imports others (structures of arguments), looks others up by
dotted name (operators), and writes names into Python code that it executes. So everything is listed here with the
texts that are harmless in its place; the JSON that PyTorch gets is built anew of what is listed, and nothing else.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.frontend.limits import LARGEST_TENSOR, MOST_AXES, MOST_NODES
from tvm_pulp.frontend.torch_program.operator_targets import is_operator, is_text_operand
from tvm_pulp.frontend.torch_program.size_expressions import is_guard, is_size

# Parts of a module, and keys of arguments, which may become names in Python code.
_PATH = re.compile(r"[\w .:/@+-]{0,500}")
_KEY = re.compile(r"[\w ./-]{0,500}")
_VERSION = re.compile(r"[\w.+<=-]{0,100}")
_DEVICE = re.compile(r"[a-z]{2,20}")
_DOTTED = re.compile(r"[A-Za-z_][\w.<>]{0,200}", re.ASCII)
_LONGEST_TEXT = 1 << 16
_ODD = "torch.export writes nothing like it; export the program again with torch.export.save"

# A kind of value: a name below, a list of one kind, or one of these.
Kind = Any
Check = Callable[[Any, str], Any]


def checked_program(program: Any, what: str) -> dict[str, Any]:
    """The JSON of a program, of nothing but what is allowed; a user error names what is not."""
    try:
        made: dict[str, Any] = _checked("Program", program, what)
    except RecursionError:
        raise UserError(f"{what} is nested too deeply: {_ODD}") from None
    return made


def checked_payloads(payloads: Any, what: str) -> dict[str, Any]:
    """The description of an archive's weights or constants."""
    made: dict[str, Any] = _checked("Payloads", payloads, what)["config"]
    return made


def _checked(kind: Kind, value: Any, what: str) -> Any:
    if isinstance(kind, list):
        refuse_if(not isinstance(value, list), _wrong(what, value))
        return [_checked(kind[0], v, what) for v in value]
    if isinstance(kind, tuple):
        refuse_if(not isinstance(value, dict), _wrong(what, value))
        return {_checked(kind[0], k, what): _checked(kind[1], v, what) for k, v in value.items()}
    if kind.endswith("?"):
        return None if value is None else _checked(kind[:-1], value, what)
    if kind in CHECKS:
        return CHECKS[kind](value, what)
    refuse_if(not isinstance(value, dict), _wrong(what, value))
    if kind in UNIONS:
        refuse_if(len(value) != 1 or not value.keys() <= UNIONS[kind].keys(), _wrong(what, _shown(value)))
        return {k: _checked(UNIONS[kind][k], v, f"{what}: {k}") for k, v in value.items()}
    # Fields of later releases are left out, as PyTorch itself does.
    made = {k: _checked(part, value[k], f"{what}: {k}") for k, part in RECORDS[kind].items() if k in value}
    return _FURTHER[kind](made, what) if kind in _FURTHER else made


def _shown(value: Any) -> str:
    return json.dumps(value)[:80]


def _wrong(what: str, value: Any) -> str:
    shown = "".join(c if c.isprintable() else "?" for c in (value if isinstance(value, str) else _shown(value))[:80])
    return f"{what} is '{shown}', which is not read from files: {_ODD}"


def _text_check(holds: Callable[[str], object]) -> Check:
    def check(value: Any, what: str) -> str:
        if not isinstance(value, str) or not holds(value):
            raise UserError(_wrong(what, value))
        return value

    return check


def _type_check(*types: type) -> Check:
    def check(value: Any, what: str) -> Any:
        refuse_if(type(value) not in types or (type(value) is int and abs(value) >= 1 << 64), _wrong(what, value))
        return value

    return check


def _number(value: Any, what: str) -> float:
    if isinstance(value, str) and value.lower().removeprefix("-") in ("inf", "infinity", "nan"):
        return float(value)
    made: float = _type_check(int, float)(value, what)
    return made


def _nothing(value: Any, what: str) -> Any:
    refuse_if(value not in (True, False, [], None), _wrong(what, value))
    return value


def _metadata(value: Any, what: str) -> dict[str, str]:
    """Of what is said about nodes only the modules they belong to."""
    stack = value.get("nn_module_stack") if isinstance(value, dict) else None
    plain = isinstance(stack, str) and stack.isprintable() and len(stack) <= _LONGEST_TEXT
    return {"nn_module_stack": stack} if plain else {}  # type: ignore[dict-item]


def _structure(value: Any, what: str) -> str:
    """The structure of arguments or results; its types are looked up among those that PyTorch knows."""
    try:
        version, tree = json.loads(value)
    except (ValueError, TypeError, RecursionError):
        raise UserError(_wrong(what, value)) from None
    refuse_if(type(version) is not int, _wrong(what, value))
    return json.dumps([version, _structure_part(tree, what)])


def _structure_part(part: Any, what: str) -> dict[str, Any]:
    if not isinstance(part, dict) or part.keys() != {"type", "context", "children_spec"}:
        raise UserError(_wrong(what, part))
    kind, context, parts = part["type"], part["context"], part["children_spec"]
    harmless = kind is None or (isinstance(kind, str) and _DOTTED.fullmatch(kind))
    refuse_if(not harmless or not isinstance(parts, list), _wrong(what, part))
    if isinstance(context, str) and kind == "collections.namedtuple":
        refuse_if(not _DOTTED.fullmatch(context), _wrong(what, part))
    elif isinstance(context, str):
        # Objects in it would be imported.
        try:
            _plain(json.loads(context), what)
        except (ValueError, RecursionError):
            raise UserError(_wrong(what, part)) from None
    else:
        refuse_if(context is not None, _wrong(what, part))
    return {"type": kind, "context": context, "children_spec": [_structure_part(p, what) for p in parts]}


def _plain(value: Any, what: str) -> None:
    if isinstance(value, list):
        for entry in value:
            _plain(entry, what)
    elif isinstance(value, str):
        refuse_if(not _KEY.fullmatch(value), _wrong(what, value))
    else:
        refuse_if(isinstance(value, dict), _wrong(what, value))


def _tensor(made: dict[str, Any], what: str) -> dict[str, Any]:
    """A tensor of plausible size as far as its size is known."""
    sizes = made.get("sizes", [])
    refuse_if(len(sizes) > MOST_AXES, f"{what} has {len(sizes)} axes, more than {MOST_AXES}: check the model")
    total = 1
    for size in sizes:
        known = size.get("as_int", 1)
        refuse_if(known < 0, _wrong(what, size))
        total *= known
    refuse_if(total > LARGEST_TENSOR, f"{what} has {total} elements: the model is not plausible here")
    return made


def _graph(made: dict[str, Any], what: str) -> dict[str, Any]:
    nodes = made.get("nodes", [])
    refuse_if(len(nodes) > 4 * MOST_NODES, f"{what} has {len(nodes)} nodes: it is not plausible here")
    return made


def _operand(made: dict[str, Any], what: str) -> dict[str, Any]:
    """An operand that is a text: a mode, an equation; never the name of a file."""
    argument = made.get("arg", {})
    texts = [argument.get("as_string"), *argument.get("as_strings", [])]
    named = all(t is None or is_text_operand(made.get("name", ""), t) for t in texts)
    refuse_if(not named, _wrong(f"{what}: operand '{made.get('name')}'", str(texts[0])))
    return made


def _target(value: Any, what: str) -> str:
    if not isinstance(value, str) or not is_operator(value):
        raise UserError(
            f"{what} is '{str(value)[:80]}', which is none of PyTorch's operators on tensors and sizes: nothing else "
            "is called from a file; replace it by others, or compile the module in memory"
        )
    return value


CHECKS: Mapping[str, Check] = {
    "bool": _type_check(bool),
    "int": _type_check(int),
    "float": _number,
    "nothing": _nothing,
    # Names that become those of variables in Python code.
    "name": _text_check(lambda text: text == "" or text.isidentifier()),
    "names": lambda value, what: _checked(["name"], value, what),
    "version": _text_check(_VERSION.fullmatch),
    "path": _text_check(_PATH.fullmatch),
    "dotted": _text_check(lambda text: text == "" or _DOTTED.fullmatch(text)),
    "text": _text_check(lambda text: len(text) <= _LONGEST_TEXT),
    "size": _text_check(is_size),
    "guard": _text_check(is_guard),
    "device": _text_check(_DEVICE.fullmatch),
    "operator": _target,
    "structure": _structure,
    "metadata": _metadata,
}
_SYMBOLIC = {
    f"Sym{kind}": {"as_expr": "Expression", f"as_{kind.lower()}": kind.lower()} for kind in ("Int", "Float", "Bool")
}
_NAMED = {
    f"Sym{kind}Argument": {"as_name": "name", f"as_{kind.lower()}": kind.lower()} for kind in ("Int", "Float", "Bool")
}
UNIONS: Mapping[str, Mapping[str, Kind]] = {
    **_SYMBOLIC,
    **_NAMED,
    "Hint": {"as_int": "int", "as_bool": "bool", "as_float": "float"},
    "OptionalTensor": {"as_tensor": "Named", "as_none": "nothing"},
    # Objects of custom classes are left out.
    "Argument": {
        "as_none": "nothing",
        "as_tensor": "Named",
        "as_tensors": ["Named"],
        "as_int": "int",
        "as_ints": ["int"],
        "as_float": "float",
        "as_floats": ["float"],
        "as_string": "text",
        "as_strings": ["text"],
        "as_sym_int": "SymIntArgument",
        "as_sym_ints": ["SymIntArgument"],
        "as_scalar_type": "int",
        "as_memory_format": "int",
        "as_layout": "int",
        "as_device": "Device",
        "as_bool": "bool",
        "as_bools": ["bool"],
        "as_sym_bool": "SymBoolArgument",
        "as_sym_bools": ["SymBoolArgument"],
        "as_graph": "GraphArgument",
        "as_optional_tensors": ["OptionalTensor"],
        "as_operator": "operator",
        "as_sym_float": "SymFloatArgument",
        "as_sym_floats": ["SymFloatArgument"],
        "as_optional_tensor": "OptionalTensor",
        "as_complex": "Complex",
        "as_nested_tensors": [["Named"]],
        "as_int_lists": [["int"]],
        "as_string_to_argument": ("path", "Argument"),
        "as_float_lists": [["float"]],
    },
    "Constant": {"as_none": "nothing", "as_int": "int", "as_float": "float", "as_string": "text", "as_bool": "bool"},
    "InputSpec": {
        "user_input": "UserValue",
        "parameter": "Held",
        "buffer": "Held",
        "tensor_constant": "Held",
        "token": "TensorValue",
        "constant_input": "ConstantInput",
    },
    "OutputSpec": {
        "user_output": "UserValue",
        "loss_output": "TensorValue",
        "buffer_mutation": "Held",
        "gradient_to_parameter": "Held",
        "gradient_to_user_input": "Held",
        "user_input_mutation": "Held",
        "token": "TensorValue",
        "parameter_mutation": "Held",
    },
}
RECORDS: Mapping[str, Mapping[str, Kind]] = {
    "Expression": {"expr_str": "size", "hint": "Hint?"},
    "Named": {"name": "name"},
    "Device": {"type": "device", "index": "int?"},
    "Complex": {"real": "float", "imag": "float"},
    "GraphArgument": {"name": "name", "graph": "Graph"},
    "Tensor": {
        "dtype": "int",
        "sizes": ["SymInt"],
        "requires_grad": "bool",
        "device": "Device",
        "strides": ["SymInt"],
        "storage_offset": "SymInt",
        "layout": "int",
    },
    "Operand": {"name": "name", "arg": "Argument", "kind": "int?"},
    "Node": {
        "target": "operator",
        "inputs": ["Operand"],
        "outputs": ["Argument"],
        "metadata": "metadata",
        "is_hop_single_tensor_return": "bool?",
        "name": "name?",
    },
    "Graph": {
        "inputs": ["Argument"],
        "outputs": ["Argument"],
        "nodes": ["Node"],
        "tensor_values": ("name", "Tensor"),
        "sym_int_values": ("name", "SymInt"),
        "sym_bool_values": ("name", "SymBool"),
        "sym_float_values": ("name", "SymFloat"),
        "is_single_tensor_return": "bool",
    },
    "UserValue": {"arg": "Argument"},
    "TensorValue": {"arg": "Named"},
    "Held": {
        "arg": "Named",
        "parameter_name": "path",
        "buffer_name": "path",
        "tensor_constant_name": "path",
        "user_input_name": "path",
        "persistent": "bool",
    },
    "ConstantInput": {"name": "name", "value": "Constant"},
    "Signature": {"input_specs": ["InputSpec"], "output_specs": ["OutputSpec"]},
    "Range": {"min_val": "int?", "max_val": "int?"},
    "CallSignature": {
        "inputs": ["Argument"],
        "outputs": ["Argument"],
        "in_spec": "structure",
        "out_spec": "structure",
        "forward_arg_names": "names?",
    },
    "Call": {"fqn": "path", "signature": "CallSignature?"},
    "GraphModule": {"graph": "Graph", "signature": "Signature", "module_call_graph": ["Call"]},
    "Version": {"major": "int", "minor": "int"},
    "Program": {
        "graph_module": "GraphModule",
        "opset_version": ("dotted", "int"),
        "range_constraints": ("size", "Range"),
        "schema_version": "Version",
        "verifiers": ["dotted"],
        "torch_version": "version",
        "guards_code": ["guard"],
    },
    "Payload": {"path_name": "path", "is_param": "bool", "use_pickle": "bool", "tensor_meta": "Tensor?"},
    "Payloads": {"config": ("path", "Payload")},
}
# Checks that look at several fields.
_FURTHER: Mapping[str, Check] = {"Tensor": _tensor, "Graph": _graph, "Operand": _operand}
