"""Archives as `torch.export.save` writes them, made without PyTorch, and pickles that run code."""

import io
import json
import pickle
import zipfile
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

ROOT = "net"
LEAF: dict[str, Any] = {"type": None, "context": None, "children_spec": []}
_TUPLE = {"type": "builtins.tuple", "context": "null"}
_DICT = {"type": "builtins.dict", "context": "[]", "children_spec": []}
IN_SPEC = [1, {**_TUPLE, "children_spec": [{**_TUPLE, "children_spec": [LEAF]}, _DICT]}]
OUT_SPEC = [1, {**_TUPLE, "children_spec": [LEAF]}]


def tensor_meta(*sizes: Any, dtype: int = 7) -> dict[str, Any]:
    """What the JSON says of a contiguous tensor; sizes are numbers or expressions."""
    said = [{"as_int": s} if isinstance(s, int) else {"as_expr": {"expr_str": s, "hint": {"as_int": 4}}} for s in sizes]
    strides: list[dict[str, int]] = []
    step = 1
    for size in reversed(sizes):
        strides.insert(0, {"as_int": step})
        step *= size if isinstance(size, int) else 1
    return {
        "dtype": dtype,
        "sizes": said,
        "requires_grad": False,
        "device": {"type": "cpu", "index": None},
        "strides": strides,
        "storage_offset": {"as_int": 0},
        "layout": 7,
    }


def named(name: str) -> dict[str, Any]:
    return {"as_tensor": {"name": name}}


def operand(name: str, argument: Any) -> dict[str, Any]:
    return {"name": name, "arg": argument, "kind": 1}


def node(target: str = "torch.ops.aten.mul.Tensor", *operands: Any, result: str = "mul") -> dict[str, Any]:
    """A node of a graph."""
    given = list(operands) or [operand("self", named("x")), operand("other", named("p_w"))]
    return {
        "target": target,
        "inputs": given,
        "outputs": [named(result)],
        "metadata": {"nn_module_stack": "L__self__,,__main__.Net", "stack_trace": "anything at all"},
        "is_hop_single_tensor_return": None,
        "name": result,
    }


PROGRAM: dict[str, Any] = {
    "graph_module": {
        "graph": {
            "inputs": [named("p_w"), named("x")],
            "outputs": [named("mul")],
            "nodes": [node()],
            "tensor_values": {name: tensor_meta(2, 4) for name in ("p_w", "x", "mul")},
            "sym_int_values": {},
            "sym_bool_values": {},
            "is_single_tensor_return": False,
            "custom_obj_values": {},
            "sym_float_values": {},
        },
        "signature": {
            "input_specs": [
                {"parameter": {"arg": {"name": "p_w"}, "parameter_name": "w"}},
                {"user_input": {"arg": named("x")}},
            ],
            "output_specs": [{"user_output": {"arg": named("mul")}}],
        },
        "module_call_graph": [
            {
                "fqn": "",
                "signature": {
                    "inputs": [],
                    "outputs": [],
                    "in_spec": json.dumps(IN_SPEC),
                    "out_spec": json.dumps(OUT_SPEC),
                    "forward_arg_names": ["x"],
                },
            }
        ],
        "metadata": {},
        "treespec_namedtuple_fields": {},
    },
    "opset_version": {"aten": 10},
    "range_constraints": {},
    "schema_version": {"major": 8, "minor": 20},
    "verifiers": ["TRAINING"],
    "torch_version": "2.13.0",
    "guards_code": [],
}
WEIGHTS: dict[str, Any] = {"config": {"w": {"path_name": "weight_0", "is_param": True, "use_pickle": False}}}
WEIGHTS["config"]["w"]["tensor_meta"] = tensor_meta(2, 4)


class Touch:
    """Makes a file when it is unpickled."""

    def __init__(self, canary: Path) -> None:
        self.canary = canary

    def __reduce__(self) -> Any:
        return Path.touch, (self.canary,)


def hostile_save(canary: Path) -> bytes:
    """A file of `torch.save` with a pickle that makes a file."""
    return saved(pickle.dumps(Touch(canary), protocol=2))


def saved(pickled: bytes, **storages: bytes) -> bytes:
    """A file of `torch.save` with this pickle."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as members:
        members.writestr("archive/data.pkl", pickled)
        members.writestr("archive/byteorder", "little")
        members.writestr("archive/version", "3\n")
        for key, content in storages.items():
            members.writestr(f"archive/data/{key.removeprefix('key')}", content)
    return made.getvalue()


def tensor_pickle(size: int = 4, offset: int = 0) -> bytes:
    """Arguments of one tensor of floats, in the instructions that `torch.save` writes."""
    storage = b"(X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x08tQ"
    numbers = b"K" + bytes([offset]) + b"K" + bytes([size]) + b"\x85K\x01\x85\x89"
    tensor = b"ctorch._utils\n_rebuild_tensor_v2\n(" + storage + numbers + b"ccollections\nOrderedDict\n)RtR"
    return b"\x80\x02" + tensor + b"\x85}\x86."


def archive(
    program: Any = None, weights: Any = None, constants: Any = None, leave: str = "", **members: bytes
) -> dict[str, bytes]:
    """Members of a whole archive; some replaced, one left out."""
    made: dict[str, Any] = {
        "data/weights/weight_0": bytes(32),
        "data/weights/model_weights_config.json": WEIGHTS if weights is None else weights,
        "data/constants/model_constants_config.json": {"config": {}} if constants is None else constants,
        "models/model.json": PROGRAM if program is None else program,
        "data/sample_inputs/model.pt": b"",
        "archive_format": b"pt2",
        "archive_version": b"0",
        **members,
    }
    made.pop(leave, None)
    return {f"{ROOT}/{n}": v if isinstance(v, bytes) else json.dumps(v).encode() for n, v in made.items()}


def write(path: Path, members: Mapping[str, bytes]) -> Path:
    """A file of these members."""
    with zipfile.ZipFile(path, "w") as file:
        for name, content in members.items():
            file.writestr(name, content)
    return path


def old_archive(canary: Path | None = None, member: str = "") -> dict[str, bytes]:
    """The format before PyTorch 2.8, with a hostile pickle in one member."""
    made = {
        "version": b"8.8",
        "serialized_exported_program.json": json.dumps(PROGRAM).encode(),
        "serialized_state_dict.pt": b"",
        "serialized_constants.pt": b"",
        "serialized_example_inputs.pt": b"",
    }
    if canary is not None:
        made[member] = hostile_save(canary)
    return made


def changed(*path: Any, to: Any) -> dict[str, Any]:
    """The program with another value at a place."""
    made = deepcopy(PROGRAM)
    place: Any = made
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = to
    return made
