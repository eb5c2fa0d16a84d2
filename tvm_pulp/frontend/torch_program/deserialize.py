"""Makes PyTorch's program of what was read from an archive and checked."""

import json
from collections.abc import Mapping
from typing import Any

from tvm_pulp.errors import UserError
from tvm_pulp.frontend.torch_program.archive import ProgramArchive
from tvm_pulp.frontend.torch_program.operator_targets import is_pure
from tvm_pulp.frontend.torch_program.pickled_tensors import ITEM_BYTES, StoredTensor


def deserialized(archive: ProgramArchive, what: str) -> Any:
    """The program; PyTorch gets tensors instead of pickles, which it would unpickle."""
    from torch._export.serde import serialize

    storages: dict[str, Any] = {}
    examples = None
    if archive.examples is not None:
        examples = _with_tensors(archive.examples, storages)
    made = serialize.deserialize(
        serialize.SerializedArtifact(
            json.dumps(archive.program).encode(),
            _tensors(archive.weights, storages),
            _tensors(archive.constants, storages),
            examples,
        )
    )
    _refuse_calls(made, what)
    return made


def _refuse_calls(program: Any, what: str) -> None:
    """Raise for a node that calls something else than an operator, whatever its name led PyTorch to."""
    import torch

    for module in program.graph_module.modules():
        for node in module.graph.nodes if isinstance(module, torch.fx.GraphModule) else ():
            if node.op == "call_function" and not is_pure(node.target):
                raise UserError(f"{what}: node '{node.name}' calls '{node.target}', which is no operator of PyTorch")


def _tensors(stored: Mapping[str, StoredTensor], storages: dict[str, Any]) -> dict[str, Any]:
    return {name: _tensor(t, storages) for name, t in stored.items()}


def _with_tensors(value: Any, storages: dict[str, Any]) -> Any:
    if isinstance(value, StoredTensor):
        return _tensor(value, storages)
    if isinstance(value, dict):
        return {key: _with_tensors(v, storages) for key, v in value.items()}
    if isinstance(value, (tuple, list)):
        return type(value)(_with_tensors(v, storages) for v in value)
    return value


def _tensor(stored: StoredTensor, storages: dict[str, Any]) -> Any:
    """A tensor on the processor; several may share a storage."""
    import torch

    dtype = getattr(torch, stored.dtype)
    if not stored.data or 0 in stored.size:
        made = torch.zeros(stored.size, dtype=dtype)
    else:
        if stored.key not in storages:
            storages[stored.key] = bytearray(stored.data)
        count = len(stored.data) // ITEM_BYTES[stored.dtype]
        flat = torch.frombuffer(storages[stored.key], dtype=dtype, count=count)
        made = flat.as_strided(stored.size, stored.stride, stored.offset)
    if stored.parameter:
        return torch.nn.Parameter(made, requires_grad=stored.requires_grad)
    return made.requires_grad_(stored.requires_grad)
