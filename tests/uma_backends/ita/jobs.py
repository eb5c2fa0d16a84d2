"""Layers as the jobs that the engine expects: 17 register words each, pointers as offsets from the start of L1.

The driver makes them of commands while a network runs; these are the whole sequences, for vectors and the model alone.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from uma_backends.ita.command import BIAS_BY_COLUMN, BIAS_BY_ROW, NO_BIAS
from uma_backends.ita.geometry import BIAS_BYTES, TILE_BYTES
from uma_backends.ita.registers import Constants, LayerKind, activation_code

WORD_NAMES = (
    "INPUT_PTR", "WEIGHT_PTR0", "WEIGHT_PTR1", "BIAS_PTR", "OUTPUT_PTR", "SEQ_LENGTH", "TILES", "EPS_MULT0",
    "EPS_MULT1", "RIGHT_SHIFT0", "RIGHT_SHIFT1", "ADD0", "ADD1", "CTRL_ENGINE", "CTRL_STREAM", "GELU_B_C",
    "ACT_REQUANT",
)  # fmt: skip
PRELOAD, NEXTLOAD, BIAS_OFF, BY_ROW, OUTPUT_OFF = (1 << bit for bit in range(5))


@dataclass(frozen=True)
class Product:
    """One step: [rows][inner] tiles times [columns][inner] tiles, as [rows][columns] tiles."""

    input: int
    weights: int
    output: int
    rows: int
    columns: int
    inner: int
    bias: int = 0
    bias_kind: int = NO_BIAS
    has_activation: bool = False


@dataclass(frozen=True)
class Head:
    """One head of attention: where its tensors lie."""

    q: int
    k: int
    weights: tuple[int, int, int, int]  # of Q, K, V and the output
    biases: tuple[int, int, int, int]
    results: tuple[int, int, int, int, int, int]  # Q, K, V transposed, logits of a row tile or of all, O, the output
    all_logits: bool = True


def attention_products(head: Head, s: int, e: int, p: int) -> list[Product]:
    """All steps of a head in the order the engine counts them."""
    wq, wk, wv, wo = head.weights
    bq, bk, bv, bo = head.biases
    at_q, at_k, at_v, at_a, at_o, out = head.results
    products = [
        Product(head.q, wq, at_q, s, p, e, bq, BIAS_BY_COLUMN),
        Product(head.k, wk, at_k, s, p, e, bk, BIAS_BY_COLUMN),
        Product(wv, head.k, at_v, p, s, e, bv, BIAS_BY_ROW),
    ]
    products += row_tile_products(at_q, at_k, at_v, at_a, at_o, s, p, s if head.all_logits else 0)
    return [*products, Product(at_o, wo, out, s, e, p, bo, BIAS_BY_COLUMN)]


def row_tile_products(q: int, k: int, v: int, logits: int, o: int, s: int, p: int, logit_tiles: int) -> list[Product]:
    """QK and AV of every row tile of queries; `logit_tiles` is the distance of their logits in tiles."""
    products = []
    for g in range(s):
        at = logits + g * logit_tiles * TILE_BYTES
        products.append(Product(q + g * p * TILE_BYTES, k, at, 1, s, p))
        products.append(Product(at, v, o + g * p * TILE_BYTES, 1, p, s))
    return products


def register_words(layer: LayerKind, constants: Constants, products: list[Product]) -> Iterator[tuple[int, ...]]:
    """The jobs of a layer, weights of each prefetched by the one before."""
    jobs = [job for product in products for job in _jobs(product)]
    words = constants.words()
    for index, job in enumerate(jobs):
        is_last = index + 1 == len(jobs)
        engine = int(layer) | (activation_code(constants.activation) << 2 if job.has_activation else 0)
        flags = job.flags | (PRELOAD if index == 0 else 0) | (0 if is_last else NEXTLOAD)
        following = 0 if is_last else jobs[index + 1].weights
        pointers = (job.input, job.weights, following, job.bias, job.output)
        yield (*pointers, 0, *words[:7], engine, flags, *words[7:])


@dataclass(frozen=True)
class _Job:
    input: int
    weights: int
    bias: int
    output: int
    flags: int
    has_activation: bool


def _jobs(product: Product) -> Iterator[_Job]:
    """Inner tiles fastest, then columns, then rows."""
    p = product
    for y in range(p.rows):
        for x in range(p.columns):
            for k in range(p.inner):
                flags = (BIAS_OFF if p.bias_kind == NO_BIAS else 0) | (BY_ROW if p.bias_kind == BIAS_BY_ROW else 0)
                flags |= 0 if k + 1 == p.inner else OUTPUT_OFF
                bias = p.bias + BIAS_BYTES * (y if p.bias_kind == BIAS_BY_ROW else x)
                yield _Job(
                    p.input + (y * p.inner + k) * TILE_BYTES,
                    p.weights + (x * p.inner + k) * TILE_BYTES,
                    bias,
                    p.output + (y * p.columns + x) * TILE_BYTES,
                    flags,
                    p.has_activation,
                )
