"""The integer Llama written down a second time, token by token, without any operator of the compiler."""

import math

import numpy as np

from tvm_pulp.frontend.zoo.weights import DecoderBlock, DecoderWeights, Linear, Scale


def scaled(acc: np.ndarray, scale: Scale) -> np.ndarray:
    return np.clip((acc * scale.mul + scale.add) >> scale.shift, -128, 127)


def rms_norm(x: np.ndarray, weight: np.ndarray) -> np.ndarray:
    root = math.isqrt(int((x * x).sum()) // len(x) + 1)
    quotient = [int(v) // root if v >= 0 else -(-int(v) // root) for v in x * weight]
    return np.clip(np.array(quotient) >> 16, -128, 127)


def apply(x: np.ndarray, linear: Linear) -> np.ndarray:
    return scaled(linear.weight.astype(np.int64) @ x, linear.scale)


class Llama:
    """Sees one token after the other."""

    def __init__(self, weights: DecoderWeights) -> None:
        self._weights, self._shape = weights, weights.shape
        self._cache: list[list[tuple[np.ndarray, np.ndarray]]] = [[] for _ in weights.blocks]
        self._exponential = [round(255 * math.exp(-d / weights.score_steps)) for d in range(256)]

    def rewind(self, length: int) -> None:
        for rows in self._cache:
            del rows[length:]

    def see(self, token: int) -> np.ndarray:
        """Logits of what follows."""
        x = self._weights.embedding[token].astype(np.int64)
        for block, rows in zip(self._weights.blocks, self._cache, strict=True):
            normal = rms_norm(x, block.norm1)
            position = len(rows)
            q = self._turned(apply(normal, block.q), position)
            rows.append((self._turned(apply(normal, block.k), position), apply(normal, block.v)))
            x = self._sum(x, apply(self._attend(block, q, rows), block.o), block.sum1)
            normal = rms_norm(x, block.norm2)
            gate = block.silu[apply(normal, block.gate) + 128].astype(np.int64)
            both = scaled(gate * apply(normal, block.up), block.product)
            x = self._sum(x, apply(both, block.down), block.sum2)
        return self._weights.embedding.astype(np.int64) @ rms_norm(x, self._weights.norm) + self._weights.head_bias

    def _sum(self, x: np.ndarray, branch: np.ndarray, scale: Scale) -> np.ndarray:
        return np.clip(scaled(x, scale) + branch, -128, 127)

    def _turned(self, x: np.ndarray, position: int) -> np.ndarray:
        size = self._shape.head
        y = np.zeros_like(x)
        for i in range(0, len(x), 2):
            angle = position * self._weights.rotary_base ** (-(i % size) / size)
            cosine, sine = round(math.cos(angle) * 16384), round(math.sin(angle) * 16384)
            y[i] = (int(x[i]) * cosine - int(x[i + 1]) * sine + 8192) >> 14
            y[i + 1] = (int(x[i]) * sine + int(x[i + 1]) * cosine + 8192) >> 14
        return np.clip(y, -128, 127)

    def _attend(self, block: DecoderBlock, q: np.ndarray, rows: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
        shape, (mul, shift) = self._shape, block.score
        size, result = shape.head, []
        for head in range(shape.heads):
            query = q[head * size : (head + 1) * size]
            first = head // (shape.heads // shape.kv_heads) * size
            logits = [(int(query @ k[first : first + size]) * mul + (1 << shift >> 1)) >> shift for k, _ in rows]
            weights = [self._exponential[min(max(logits) - logit, 255)] for logit in logits]
            total = sum(weights)
            mixed = sum(w * v[first : first + size] for w, (_, v) in zip(weights, rows, strict=True))
            result.append((2 * mixed + total) // (2 * total))
        return np.concatenate(result)
