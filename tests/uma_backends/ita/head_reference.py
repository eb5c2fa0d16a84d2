"""Heads of the engines that run nothing else, in numpy, from their specification: operands in one block, six rules."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.int8]
Rule = tuple[int, int, int]  # multiplier, shift, summand behind it


def requantize(sums: NDArray[np.int64], rule: Rule) -> Bytes:
    """Half of the last bit goes up; the product has 32 bits."""
    multiplier, shift, add = rule
    product = sums * multiplier
    assert np.abs(product).max() < 1 << 31
    half = (product >> shift - 1) & 1 if shift else 0
    return np.clip((product >> shift) + add + half, -128, 127).astype(np.int8)


def softmax(logits: Bytes) -> Bytes:
    """Value by value, group by group."""
    result = np.zeros_like(logits)
    for row, values in enumerate(logits.astype(int).tolist()):
        largest, total = -128, 0
        for first in range(0, len(values), 16):
            group = values[first : first + 16]
            higher = max(largest, *group)
            total = (total >> (higher - largest + 16 >> 5)) + sum(1024 >> (higher - v + 16 >> 5) for v in group)
            largest = higher
        result[row] = [127 * 1024 // total >> (largest - v + 16 >> 5) for v in values]
    return result


@dataclass(frozen=True)
class Head:
    """Weights [in][out] and biases of one head, and its rules: Q, K, logits, V, values, output."""

    weights: dict[str, Bytes]
    biases: dict[str, NDArray[np.int32]]
    rules: tuple[Rule, ...]

    @staticmethod
    def random(random: np.random.Generator, e: int, p: int, rules: tuple[Rule, ...]) -> "Head":
        shapes = {"q": (e, p), "k": (e, p), "v": (e, p), "o": (p, e)}
        weights = {n: random.integers(-128, 128, shape).astype(np.int8) for n, shape in shapes.items()}
        biases = {n: random.integers(-9000, 9000, shape[1]).astype(np.int32) for n, shape in shapes.items()}
        return Head(weights, biases, rules)

    def apply(self, q: Bytes, k: Bytes) -> Bytes:
        """The result of positions `q` that look at positions `k`."""

        def project(x: Bytes, name: str, rule: Rule) -> Bytes:
            return requantize(x.astype(np.int64) @ self.weights[name] + self.biases[name], rule)

        queries, keys = project(q, "q", self.rules[0]), project(k, "k", self.rules[1])
        logits = requantize(queries.astype(np.int64) @ keys.T.astype(np.int64), self.rules[2])
        values = project(k, "v", self.rules[3])
        mixed = requantize(softmax(logits).astype(np.int64) @ values, self.rules[4])
        return project(mixed, "o", self.rules[5])

    def operands(self, q: Bytes, k: Bytes) -> bytes:
        """One block: Wo^T, Wv^T, Wk^T, q, k, Wq^T, biases; q, k and Wq^T in blocks of 16 columns."""
        turned = {name: w.T for name, w in self.weights.items()}
        plain = b"".join(np.ascontiguousarray(turned[name]).tobytes() for name in "ovk")
        blocks = b"".join(m[:, c : c + 16].tobytes() for m in (q, k, turned["q"]) for c in range(0, m.shape[1], 16))
        return plain + blocks + b"".join(self.biases[name].tobytes() for name in "ovkq")


RULES: tuple[Rule, ...] = ((60, 17, 0), (70, 17, 3), (40, 13, -7), (75, 17, 5), (150, 14, -3), (90, 14, 2))
