"""Tensors in files of `torch.save`, read as data.

Such a file is a zip archive of storages and of a pickle, and a pickle is a program. Its instructions are listed here
by the standard library, and only those that build tuples, lists, dictionaries, numbers, texts and plain tensors are
followed: nothing is imported and nothing of the file is called.
"""

import pickletools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.frontend.limits import LARGEST_TENSOR, MOST_AXES
from tvm_pulp.frontend.zip_members import zip_members

# Types of PyTorch by name, and the bytes of an element.
ITEM_BYTES = {
    **dict.fromkeys(("uint8", "int8", "bool"), 1),
    **dict.fromkeys(("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu"), 1),
    **dict.fromkeys(("int16", "uint16", "float16", "bfloat16"), 2),
    **dict.fromkeys(("int32", "uint32", "float32", "complex32"), 4),
    **dict.fromkeys(("int64", "uint64", "float64", "complex64"), 8),
    "complex128": 16,
}
_STORAGES = {
    "FloatStorage": "float32",
    "DoubleStorage": "float64",
    "HalfStorage": "float16",
    "BFloat16Storage": "bfloat16",
    "ByteStorage": "uint8",
    "CharStorage": "int8",
    "ShortStorage": "int16",
    "IntStorage": "int32",
    "LongStorage": "int64",
    "BoolStorage": "bool",
    "ComplexFloatStorage": "complex64",
    "ComplexDoubleStorage": "complex128",
}
_MOST_MEMBERS = 100_000
# Structures may hold a part many times, which whoever walks through them visits as often.
_MOST_LEAVES = 100_000


@dataclass(frozen=True)
class StoredTensor:
    """A plain tensor: where its elements lie in the bytes of a storage. Equal keys name the same storage."""

    key: str
    data: bytes
    dtype: str
    offset: int
    size: tuple[int, ...]
    stride: tuple[int, ...]
    requires_grad: bool = False
    parameter: bool = False

    def check(self, what: str) -> "StoredTensor":
        """The tensor itself; a user error where it reaches beyond its bytes."""
        counts = (self.offset, *self.size, *self.stride)
        whole = all(type(n) is int and 0 <= n <= LARGEST_TENSOR for n in counts)
        refuse_if(
            not whole or len(self.size) != len(self.stride) or len(self.size) > MOST_AXES,
            f"{what} has an impossible shape: save the program again with torch.export.save",
        )
        last = self.offset + sum((n - 1) * step for n, step in zip(self.size, self.stride, strict=True))
        held = len(self.data) // ITEM_BYTES[self.dtype]
        refuse_if(
            prod(self.size) > LARGEST_TENSOR or (0 not in self.size and last >= held),
            f"{what} of shape {list(self.size)} has no values: save the program again with torch.export.save",
        )
        return self


@dataclass(frozen=True)
class _Name:
    """A name that a pickle would import."""

    module: str
    name: str

    def __str__(self) -> str:
        return f"{self.module}.{self.name}"


@dataclass(frozen=True)
class _Storage:
    key: str
    data: bytes
    dtype: str | None


def read_saved(content: bytes, what: str) -> Any:
    """The value that `torch.save` wrote, of nothing but containers, numbers, texts and plain tensors."""
    damaged = f"{what} is damaged or nothing that torch.save wrote: save the program again with torch.export.save"
    with zip_members(content, what, damaged, _MOST_MEMBERS) as members:
        roots = [n.removesuffix("data.pkl") for n in members.sizes if n.endswith("/data.pkl") and n.count("/") == 1]
        refuse_if(len(roots) != 1, damaged)
        (root,) = roots
        order = members.read(f"{root}byteorder") if f"{root}byteorder" in members.sizes else b"little"
        refuse_if(order != b"little", f"{what} has bytes in big-endian order: save the program on another machine")
        held: dict[str, bytes] = {}

        def storage(key: str) -> bytes:
            refuse_if(f"{root}data/{key}" not in members.sizes, damaged)
            if key not in held:
                held[key] = members.read(f"{root}data/{key}")
            return held[key]

        made = _Instructions(storage, what, damaged).follow(members.read(f"{root}data.pkl"))
    _count_leaves(made, [0], what)
    return made


def _count_leaves(value: Any, count: list[int], what: str, depth: int = 0) -> None:
    count[0] += 1
    refuse_if(count[0] > _MOST_LEAVES or depth > 50, f"{what} is nested or repeated beyond what any program takes")
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, (tuple, list)) else ()
    for part in parts:
        _count_leaves(part, count, what, depth + 1)


class _Instructions:
    """A pickle's instructions on a stack of values."""

    def __init__(self, storage: Callable[[str], bytes], what: str, damaged: str) -> None:
        self._storage = storage
        self._what, self._damaged = what, damaged
        self._stack: list[Any] = []
        self._marks: list[int] = []
        self._memo: dict[int, Any] = {}

    def follow(self, content: bytes) -> Any:
        """The value that the instructions build."""
        try:
            for opcode, argument, _ in pickletools.genops(content):
                if opcode.name == "STOP":
                    return self._stack.pop()
                self._one(opcode.name, argument)
        except UserError:
            raise
        except Exception:  # an instruction without its operands, or of other types
            raise UserError(self._damaged) from None
        raise UserError(self._damaged)

    def _one(self, name: str, argument: Any) -> None:
        if name in _VALUES:
            self._stack.append(_VALUES[name](argument))
        elif name in ("PROTO", "FRAME"):
            pass
        elif name == "MARK":
            self._marks.append(len(self._stack))
        elif name in ("BINPUT", "LONG_BINPUT", "MEMOIZE"):
            self._memo[len(self._memo) if argument is None else argument] = self._stack[-1]
        elif name in ("BINGET", "LONG_BINGET"):
            self._stack.append(self._memo[argument])
        elif name in _TUPLES:
            self._stack.append(tuple(self._taken(_TUPLES[name])))
        elif name in ("TUPLE", "APPENDS", "SETITEMS"):
            self._gathered(name, self._taken(len(self._stack) - self._marks.pop()))
        elif name in ("APPEND", "SETITEM"):
            self._gathered(f"{name}S", self._taken(1 if name == "APPEND" else 2))
        elif name in ("GLOBAL", "STACK_GLOBAL"):
            parts = self._taken(2) if argument is None else argument.split(" ", 1)
            self._stack.append(self._known(_Name(*map(str, parts))))
        elif name == "BINPERSID":
            self._stack.append(self._held(*self._taken(1)))
        elif name == "REDUCE":
            function, operands = self._taken(2)
            self._stack.append(self._rebuilt(function, operands))
        elif name == "BUILD":
            # Attributes of a dictionary, as modules keep versions in them.
            self._taken(1)
            refuse_if(not isinstance(self._stack[-1], dict), self._pickled(name))
        else:
            raise UserError(self._pickled(name))

    def _taken(self, count: int) -> list[Any]:
        if count > len(self._stack):
            raise UserError(self._damaged)
        taken = self._stack[len(self._stack) - count :]
        del self._stack[len(self._stack) - count :]
        return taken

    def _gathered(self, name: str, values: list[Any]) -> None:
        if name == "TUPLE":
            self._stack.append(tuple(values))
        elif name == "APPENDS":
            refuse_if(type(self._stack[-1]) is not list, self._damaged)
            self._stack[-1].extend(values)
        else:
            refuse_if(type(self._stack[-1]) is not dict, self._damaged)
            self._stack[-1].update(zip(values[::2], values[1::2], strict=True))

    def _pickled(self, what: Any) -> str:
        return (
            f"{self._what} holds a pickle with '{what}', not only plain tensors: nothing in a file is executed here; "
            "export the program with plain tensors and save it again with torch.export.save, or compile it in memory"
        )

    def _known(self, name: _Name) -> _Name:
        typed = name.module == "torch" and (name.name in _STORAGES or name.name in ITEM_BYTES)
        refuse_if(not typed and str(name) not in (*_REBUILT, "torch.storage.UntypedStorage"), self._pickled(name))
        return name

    def _held(self, named: Any) -> _Storage:
        kind, typed, key, _, _ = named
        refuse_if(kind != "storage" or not isinstance(typed, _Name) or not isinstance(key, str), self._damaged)
        return _Storage(f"{self._what} {key}", self._storage(key), _STORAGES.get(typed.name))

    def _rebuilt(self, function: Any, operands: Any) -> Any:
        if not isinstance(function, _Name) or str(function) not in _REBUILT:
            raise UserError(self._pickled(function))
        made = _REBUILT[str(function)](*operands)
        return made.check(self._what) if isinstance(made, StoredTensor) else made


def _tensor(storage: _Storage, offset: int, size: Any, stride: Any, requires_grad: bool, hooks: Any, *_: Any) -> Any:
    if storage.dtype is None or hooks:
        raise ValueError("a storage without a type, or hooks")
    return StoredTensor(
        storage.key, storage.data, storage.dtype, offset, tuple(size), tuple(stride), bool(requires_grad)
    )


def _typed_tensor(
    storage: _Storage, offset: int, size: Any, stride: Any, requires_grad: bool, hooks: Any, dtype: _Name, *_: Any
) -> Any:
    typed = _Storage(storage.key, storage.data, dtype.name if dtype.name in ITEM_BYTES else None)
    return _tensor(typed, offset, size, stride, requires_grad, hooks)


def _parameter(data: StoredTensor, requires_grad: bool, hooks: Any, *_: Any) -> StoredTensor:
    if hooks or not isinstance(data, StoredTensor):
        raise ValueError("no plain parameter")
    fields: Mapping[str, Any] = {**vars(data), "requires_grad": bool(requires_grad), "parameter": True}
    return StoredTensor(**fields)


_REBUILT: Mapping[str, Callable[..., Any]] = {
    "torch._utils._rebuild_tensor_v2": _tensor,
    "torch._utils._rebuild_tensor_v3": _typed_tensor,
    "torch._utils._rebuild_parameter": _parameter,
    "collections.OrderedDict": lambda pairs=(): dict(pairs),
    "torch.Size": tuple,
}
_TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
_VALUES: Mapping[str, Callable[[Any], Any]] = {
    "NONE": lambda _: None,
    "NEWTRUE": lambda _: True,
    "NEWFALSE": lambda _: False,
    "EMPTY_DICT": lambda _: {},
    "EMPTY_LIST": lambda _: [],
    "EMPTY_TUPLE": lambda _: (),
    **dict.fromkeys(("BININT", "BININT1", "BININT2", "LONG1"), lambda number: number),
    **dict.fromkeys(("BINFLOAT", "BINUNICODE", "SHORT_BINUNICODE"), lambda value: value),
}
