"""Golden vectors of the public reference model: tensors, images of L1, complete lists of jobs."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.uma_backends.ita.jobs import BIAS_BY_COLUMN, NO_BIAS, Head, Product, attention_products
from uma_backends.ita.reference import Activation, ItaGelu, ItaRequantization, Relu
from uma_backends.ita.registers import Constants, RequantSlot

NAMES = {
    "softmax": [f"softmax_{i:02}" for i in range(6)],
    "gemm": [f"gemm_{i:02}" for i in range(7)],
    "gelu": [f"gelu_{i:02}" for i in range(4)],
    "attn": [f"attn_{i:02}" for i in range(4)],
    "mha": [f"mha_{i:02}" for i in range(2)],
    "ffn": [f"ffn_{i:02}" for i in range(4)],
}
HEAD_SLOTS = (RequantSlot.Q, RequantSlot.K, RequantSlot.V, RequantSlot.QK, RequantSlot.AV, RequantSlot.OW)


def rule_of(arrays: dict[str, Any], *index: int) -> ItaRequantization:
    """One of the vector's requantizations."""
    return ItaRequantization(*(int(arrays[name][index]) for name in ("mult", "shift", "add")))


def activation_of(arrays: dict[str, Any], code: int | None = None) -> Activation | None:
    """The activation of a product."""
    after = ItaRequantization(*(int(arrays[f"act_{name}"]) for name in ("mult", "shift", "add")))
    kind = int(arrays["activation"]) if code is None else code
    if kind == 1:
        return ItaGelu(int(arrays["gelu_b"]), int(arrays["gelu_c"]), after)
    return Relu(after) if kind == 2 else None


@dataclass(frozen=True)
class GoldenVector:
    """One file."""

    name: str
    arrays: dict[str, Any]

    @classmethod
    def load(cls, folder: Path, name: str) -> "GoldenVector":
        with np.load(folder / f"{name}.npz") as data:
            return cls(name, {key: data[key] for key in data.files})

    @property
    def offsets(self) -> dict[str, int]:
        """Places of the regions in the image."""
        return {str(n): int(v) for n, v in zip(self.arrays["off_names"], self.arrays["off_values"], strict=True)}

    def runs(self) -> list[tuple[NDArray[np.uint8], NDArray[np.uint32], NDArray[np.uint8]]]:
        """Image before, jobs, image after: once, or once per head."""
        images = [self.arrays[key] for key in ("mem_init", "jobs", "mem_final")]
        if images[0].ndim == 1:
            return [(images[0], images[1], images[2])]
        return list(zip(*images, strict=True))

    def head(self, index: int) -> tuple[Constants, list[Product]]:
        """A head of attention as this folder describes it."""
        at, a = self.offsets, self.arrays
        s, e, p = (int(a[key]) // 64 for key in "SEP")
        rules = {slot: rule_of(a, slot, index) for slot in HEAD_SLOTS}
        weights = (at["Wq"], at["Wk"], at["Wv"], at["Wo"])
        biases = (at["Bq"], at["Bk"], at["Bv"], at["Bo"])
        results = (at["Q"], at["K"], at["V"], at["QK"], at["AV"], at["OW"])
        return Constants((s, e, p, 1), rules), attention_products(
            Head(at["q"], at["k"], weights, biases, results), s, e, p
        )

    def feedforward(self) -> tuple[Constants, list[Product]]:
        """Both products of a feed-forward network."""
        at, a = self.offsets, self.arrays
        s, e, f = (int(a[key]) // 64 for key in "SEF")
        rules = {RequantSlot.F1: rule_of(a, 0), RequantSlot.F2: rule_of(a, 1)}
        first = Product(at["ff"], at["Wf1"], at["F1"], s, f, e, at["Bf1"], BIAS_BY_COLUMN, has_activation=True)
        second = Product(at["F1"], at["Wf2"], at["F2"], s, e, f, at["Bf2"], BIAS_BY_COLUMN)
        return Constants((s, e, 1, f), rules, activation_of(a)), [first, second]

    def product(self) -> tuple[Constants, list[Product]]:
        """A single product."""
        a = self.arrays
        (s, k), n = (d // 64 for d in a["x"].shape), a["w"].shape[1] // 64
        bias_kind = BIAS_BY_COLUMN if a["bias"].any() else NO_BIAS
        at = [int(a[f"off_{key}"]) for key in ("input", "weight", "output", "bias")]
        product = Product(at[0], at[1], at[2], s, n, k, at[3], bias_kind, has_activation=True)
        return Constants((s, k, n, 1), {RequantSlot.Q: rule_of(a)}, activation_of(a)), [product]
