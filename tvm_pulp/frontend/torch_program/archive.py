"""Archives of `torch.export.save`, read by us: PyTorch's own reader unpickles, which runs code.

What comes out is data: JSON of which every text was checked (`program_schema`), and tensors as bytes. PyTorch gets
these, never the file.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.frontend.torch_program.pickled_tensors import StoredTensor, read_saved
from tvm_pulp.frontend.torch_program.program_schema import checked_payloads, checked_program
from tvm_pulp.frontend.zip_members import ZipMembers, zip_members

_MOST_MEMBERS = 100_000
_LARGEST_TEXT = 1 << 28
# PyTorch's numbers of types in JSON.
_TYPES = dict(
    enumerate(("uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex32"), 1)
) | {10: "complex64", 11: "complex128", 12: "bool", 13: "bfloat16", 28: "uint16", 34: "uint32", 35: "uint64"}
_TYPES |= dict(enumerate(("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu"), 29))
_STRIDED = 7
# Files of the format before PyTorch 2.8: the program, then what it holds.
_OLD = "serialized_exported_program.json"


@dataclass(frozen=True)
class ProgramArchive:
    """A program as its file describes it; `examples` are positional and named arguments, or None."""

    program: Mapping[str, Any]
    weights: Mapping[str, StoredTensor]
    constants: Mapping[str, StoredTensor]
    examples: tuple[Any, Any] | None


def read_archive(path: Path) -> ProgramArchive:
    """The program in a file that `torch.export.save` wrote, in today's format or in that before PyTorch 2.8."""
    what = f"'{path}'"
    damaged = f"{what} is not a readable program of torch.export: write it with torch.export.save"
    with zip_members(path, what, damaged, _MOST_MEMBERS) as members:
        reader = _Old(members, what) if _OLD in members.sizes else _New(members, what, damaged)
        return reader.read()


class _Reader:
    """The members of an archive, by what they are for."""

    def __init__(self, members: ZipMembers, what: str) -> None:
        self.members = members
        self.what = what

    def json(self, name: str) -> Any:
        size = self.members.sizes[name]
        refuse_if(size > _LARGEST_TEXT, f"{self.what}: {name} is of {size >> 20} MiB: it is not plausible here")
        try:
            return json.loads(self.members.read(name))
        except (ValueError, RecursionError):
            raise UserError(f"{self.what}: {name} is no JSON: write it again with torch.export.save") from None

    def program(self, name: str) -> dict[str, Any]:
        return checked_program(self.json(name), self.what)

    def saved(self, name: str) -> Any:
        """The value in a member that `torch.save` wrote; None where it is empty."""
        if not self.members.sizes.get(name):
            return None
        return read_saved(self.members.read(name), f"{self.what}: {name}")

    def tensors(self, name: str) -> dict[str, StoredTensor]:
        found = self.saved(name)
        found = {} if found is None else found
        if not isinstance(found, dict) or not all(isinstance(t, StoredTensor) for t in found.values()):
            raise UserError(f"{self.what}: {name} holds more than plain tensors: save the program with plain tensors")
        return found

    def examples(self, name: str) -> tuple[Any, Any] | None:
        found = self.saved(name)
        if found is None:
            return None
        whole = isinstance(found, tuple) and len(found) == 2
        if not whole or not isinstance(found[0], (tuple, list)) or not isinstance(found[1], dict):
            raise UserError(f"{self.what}: {name} holds no arguments: write it again with torch.export.save")
        return tuple(found[0]), found[1]


class _Old(_Reader):
    def read(self) -> ProgramArchive:
        return ProgramArchive(
            self.program(_OLD),
            self.tensors("serialized_state_dict.pt"),
            self.tensors("serialized_constants.pt"),
            self.examples("serialized_example_inputs.pt"),
        )


class _New(_Reader):
    def __init__(self, members: ZipMembers, what: str, damaged: str) -> None:
        super().__init__(members, what)
        roots = {name.split("/")[0] for name in members.sizes}
        refuse_if(len(roots) != 1, damaged)
        self.root = roots.pop()
        models = [n for n in members.sizes if n.startswith(f"{self.root}/models/") and n.endswith(".json")]
        self.names = [n.removeprefix(f"{self.root}/models/").removesuffix(".json") for n in models]
        if not models and any(n.startswith(f"{self.root}/data/aotinductor/") for n in members.sizes):
            raise UserError(f"{what} holds machine code of AOTInductor and no program: write it with torch.export.save")
        refuse_if(not models, damaged)

    def read(self) -> ProgramArchive:
        name = "model" if "model" in self.names else self.names[0]
        refuse_if(
            len(self.names) > 1 and name != "model",
            f"{self.what} holds {len(self.names)} programs and none called 'model': save one with torch.export.save",
        )
        return ProgramArchive(
            self.program(f"{self.root}/models/{name}.json"),
            self.payloads(name, "weights"),
            self.payloads(name, "constants"),
            self.examples(f"{self.root}/data/sample_inputs/{name}.pt"),
        )

    def payloads(self, model: str, kind: str) -> dict[str, StoredTensor]:
        folder = f"{self.root}/data/{kind}"
        if f"{folder}/{model}.pt" in self.members.sizes:  # as the first releases with this format wrote them
            return self.tensors(f"{folder}/{model}.pt")
        listed = f"{folder}/{model}_{kind}_config.json"
        refuse_if(listed not in self.members.sizes, f"{self.what} has no {listed}: write it with torch.export.save")
        held: dict[str, bytes] = {}
        made = {}
        for name, payload in checked_payloads(self.json(listed), f"{self.what}: {listed}").items():
            member = f"{folder}/{payload['path_name']}"
            refuse_if(member not in self.members.sizes, f"{self.what} lacks {member}: write it with torch.export.save")
            what = f"{self.what}: '{name}' in {kind}"
            if payload["use_pickle"]:
                made[name] = self._pickled(member, what)
                continue
            if member not in held:
                held[member] = self.members.read(member)
            made[name] = _raw(member, held[member], payload, what)
        return made

    def _pickled(self, member: str, what: str) -> StoredTensor:
        """A tensor that was saved as a pickle, where it is a plain one after all."""
        refuse_if(
            member.rpartition("/")[2].startswith(("custom_obj", "opaque_obj")),
            f"{what} is an object of a class, which only a pickle can hold: nothing in a file is executed here; "
            "export a module of plain tensors",
        )
        found = read_saved(self.members.read(member), what)
        if not isinstance(found, StoredTensor):
            raise UserError(f"{what} is no plain tensor: unwrap it before torch.export.export")
        return found


def _raw(member: str, data: bytes, payload: Mapping[str, Any], what: str) -> StoredTensor:
    meta = payload["tensor_meta"]
    numbers = [] if meta is None else [*meta["sizes"], *meta["strides"], meta["storage_offset"]]
    refuse_if(
        meta is None
        or meta["dtype"] not in _TYPES
        or meta["layout"] != _STRIDED
        or any("as_int" not in n for n in numbers),
        f"{what} is no plain tensor of fixed size: export a module of plain tensors",
    )
    dtype = _TYPES[meta["dtype"]]
    size, stride = (tuple(n["as_int"] for n in meta[key]) for key in ("sizes", "strides"))
    made = StoredTensor(
        member,
        data,
        dtype,
        meta["storage_offset"]["as_int"],
        size,
        stride,
        meta["requires_grad"],
        payload["is_param"],
    )
    return made.check(what)
