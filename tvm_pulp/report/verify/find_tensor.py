"""The tensor of the model that a layer's result is.

Compilation joins, moves and renames operators, so names alone do not tell. The tensor is found by its values: the
layer's reference, computed from the framework's values of its operands, must give the same up to layout. Where none
does, a tensor of the layer's name is taken, so that a wrong import is seen as a difference and not overlooked.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from tvm_pulp.grouped import grouped
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.report.verify.layer_table import deviation

# Values of the same tensor: few differ, and those little.
_LEAST_EQUAL = 0.9
_FURTHEST_LSB = 2.0
_FURTHEST_FLOAT = 1e-3
_SIGN = 128


@dataclass(frozen=True)
class FoundTensor:
    """A tensor of the model, its values in the shape and type of the layer's result."""

    name: str
    value: np.ndarray


class Tensors:
    """The tensors of a reference, by number of values."""

    def __init__(self, tensors: Mapping[str, np.ndarray], layers: Mapping[str, np.ndarray]) -> None:
        """`layers`: results of the framework's layers, which may be one of several operators of that name."""
        named = {f"{n} (layer)" if n in tensors else n: value for n, value in layers.items()}
        self._tensors = {**named, **tensors}
        self._only_by_value = named.keys()
        self._by_size = grouped((value.size, name) for name, value in self._tensors.items())
        self._used: set[str] = set()

    def find(self, value: np.ndarray, names: tuple[str, ...]) -> FoundTensor | None:
        """The tensor that has these values, by preference one of those names, then one that no layer has yet."""
        plain = {_plain(name) for name in names}
        candidates = self._by_size.get(value.size, [])
        close: list[tuple[bool, bool, float, FoundTensor]] = []
        for name in candidates:
            for form in forms(self._tensors[name], TensorSpec(value.shape, str(value.dtype))):
                apart = deviation(value, form)
                equal = 1 - apart.differing / max(1, apart.values)
                near = apart.largest <= (_FURTHEST_FLOAT if apart.is_float else _FURTHEST_LSB)
                if near and (apart.is_float or equal >= _LEAST_EQUAL):
                    closeness = -apart.largest if apart.is_float else equal
                    close.append((_plain(name) in plain, name not in self._used, closeness, FoundTensor(name, form)))
        if not close:
            return None
        # A constant result equals many; the first that is as good as any is the one that is computed first.
        best = max(close, key=lambda entry: (entry[0], round(entry[2], 3), entry[1]))[3]
        self._used.add(best.name)
        return best

    def named(self, value: np.ndarray, names: tuple[str, ...]) -> FoundTensor | None:
        """The tensor of a layer's name, whatever it holds; in the layout in which it is nearest."""
        spec, plain = TensorSpec(value.shape, str(value.dtype)), {_plain(name) for name in names}
        for name in self._by_size.get(value.size, []):
            meant = _plain(name) in plain and name not in self._only_by_value
            made = list(forms(self._tensors[name], spec)) if meant else []
            if made:
                return FoundTensor(name, min(made, key=lambda form: deviation(value, form).differing))
        return None


def forms(tensor: np.ndarray, spec: TensorSpec) -> Iterator[np.ndarray]:
    """A tensor as a result of that shape and type may hold it: channels last or first, the sign bit inverted."""
    wanted = np.dtype(spec.dtype)
    # Training writes integers as floats.
    if tensor.dtype.kind != "f" and wanted.kind == "f":
        return
    shifted = tensor
    if {tensor.dtype.name, wanted.name} == {"int8", "uint8"}:
        shifted = tensor.astype(np.int64) + (_SIGN if wanted.name == "uint8" else -_SIGN)
    candidates = [tensor] if shifted is tensor else [tensor, shifted]
    for value in candidates:
        made = value.astype(wanted)
        if not np.array_equal(made, value, equal_nan=True) and wanted.kind != "f":
            continue  # it does not hold these values
        yield made.reshape(spec.shape)
        if value.ndim >= 3:
            yield np.moveaxis(made, 1, -1).reshape(spec.shape)
            yield np.moveaxis(made, -1, 1).reshape(spec.shape)


def _plain(name: str) -> str:
    return re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_").lower()
