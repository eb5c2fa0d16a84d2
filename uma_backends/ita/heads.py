"""ITAs that run whole heads: their operands, what a head takes, and the words of a round.

Arithmetic is that of `reference.py` but for the softmax, which takes 32 steps of the logits per octave, and for sums,
which have 32 bits also behind the multiplier.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tvm_pulp.qnn.network import Tensor
from tvm_pulp.soc.cost_model import CostModel
from tvm_pulp.uma import Call, CoreCost, Job, Local, Pointer, refuse_if
from uma_backends.ita.geometry import TILE, tiles
from uma_backends.ita.ita_form import ENGINE
from uma_backends.ita.reference import ItaRequantization
from uma_backends.ita.registers import pack_bytes

SPLIT = 16  # columns of a block of operands
SOFTMAX_UNIT = 1024  # what a logit adds to the sum of its row, if it is the largest
PRODUCT_LIMIT = 1 << 31
LARGEST_SHIFT = 31
# Of `struct ita_heads_command`: a header, pointers to the tables, multipliers, shifts, summands.
HEADER_WORDS, TABLE_WORDS, RULES = 8, 3, 6
COMMAND_WORDS = HEADER_WORDS + TABLE_WORDS + 4 + RULES
_CYCLES_OF_TILE = 256
_DEFAULTS = {"fetch_bytes": 16, "start_cycles": 200}  # assumptions, as the model has them


@dataclass(frozen=True)
class HeadContext:
    """The compilation as forms see it; `parameters` are those of the engines' model."""

    costs: CostModel
    parameters: Mapping[str, int]
    softmax: str

    @property
    def engines(self) -> int:
        return self.parameters["head_engines"]


@dataclass(frozen=True)
class HeadSizes:
    """Positions, width of the embedding and of the head."""

    s: int
    e: int
    p: int

    @property
    def q_offset(self) -> int:
        """The place of q, behind three matrices."""
        return 3 * self.p * self.e

    @property
    def k_offset(self) -> int:
        return self.q_offset + self.s * self.e

    @property
    def bytes(self) -> int:
        return 4 * self.p * self.e + 2 * self.s * self.e + 4 * (self.e + 3 * self.p)

    @property
    def macs(self) -> int:
        return self.s * self.p * (4 * self.e + 2 * self.s)

    def cycles(self, parameters: Mapping[str, int]) -> int:
        """Of a head on its engine; nothing public says it: products of tiles, or what they fetch, and a start."""
        told = {**_DEFAULTS, **parameters}
        return int(max(self.product_cycles, -(-self.bytes // told["fetch_bytes"])) + told["start_cycles"])

    @property
    def product_cycles(self) -> int:
        s, e, p = tiles(self.s), tiles(self.e), tiles(self.p)
        return _CYCLES_OF_TILE * (4 * s * e * p + 2 * s * s * p)


@dataclass(frozen=True)
class HeadWeights:
    """Constants of one head: int8 [out][in] and int32 [out]."""

    q: NDArray[np.int8]
    k: NDArray[np.int8]
    v: NDArray[np.int8]
    o: NDArray[np.int8]
    biases: Mapping[str, NDArray[np.integer]]

    def operands(self, positions: bytes) -> bytes:
        """The block of a head; `positions` are q and k, or room for them."""
        biases = (self.biases[name].astype("<i4").tobytes() for name in "ovkq")
        plain = b"".join(m.tobytes() for m in (self.o, self.v, self.k))
        return plain + positions + split(self.q).tobytes() + b"".join(biases)


def split(matrix: NDArray[np.int8]) -> NDArray[np.int8]:
    """[rows][columns] as [columns / 16][rows][16]."""
    rows, columns = matrix.shape
    return np.ascontiguousarray(matrix.reshape(rows, columns // SPLIT, SPLIT).swapaxes(0, 1))


@dataclass(frozen=True)
class Round:
    """Heads that run at once: one `struct ita_heads_command`."""

    count: int
    sizes: HeadSizes
    rules: Sequence[ItaRequantization]  # of Q, K, logits, V, values, output
    first: Local
    others: tuple[Tensor, int] | None  # operands of the heads behind the first: a constant, and bytes from its start
    out: Local

    def job(self, macs: int, parameters: Mapping[str, int]) -> Job:
        """The round as a step."""
        others, cycles = None if self.others is None else self.others[0], self.sizes.cycles(parameters)
        operands = (self.first,), (self.out,), others
        return Job(ENGINE, self, COMMAND_WORDS, *operands, macs, cycles, runs=self.count)

    def words(self, slot: str, address: Callable[[Any], str]) -> list[str]:
        """The words as C expressions; `slot` is the address of the first."""
        sizes, tables = self.sizes, HEADER_WORDS + TABLE_WORDS
        others = "0u" if self.others is None else f"{address(self.others[0])} + {self.others[1]}u"
        header = [*(f"{n}u" for n in (self.count, sizes.s, sizes.e, sizes.p)), address(self.first), others]
        pointers = [f"{slot} + {4 * n}u" for n in (tables, tables + 2, tables + 4)]
        packed = [pack_bytes([getattr(r, n) for r in self.rules] + [0, 0]) for n in ("multiplier", "shift")]
        adds = [f"{rule.add & 0xFFFFFFFF:#x}u" for rule in self.rules]
        return [
            *header,
            f"{sizes.bytes}u",
            address(self.out),
            *pointers,
            *(f"{w:#x}u" for p in packed for w in p),
            *adds,
        ]

    def fields(self) -> dict[str, str]:
        """Meanings of words by their number."""
        names = ("heads", "positions", "embedding", "size of a head", "operands of the first", "of the others")
        rules = ("q", "k", "logits", "v", "values", "output")
        found = dict(enumerate((*names, "bytes to the next", "results", "tables"), 0))
        found |= {11: f"multipliers of {', '.join(rules)}", 13: "shifts"}
        return {
            str(number): text for number, text in (found | {15 + i: f"add of {r}" for i, r in enumerate(rules)}).items()
        }


def positions_call(sizes: HeadSizes, operands: Local, q: Local | None, k: Local, cores: int) -> Call:
    """The cores put q and k where a block of operands has room for them; without q only k."""
    rows, columns = k.spec.shape
    fields: dict[str, int | Pointer] = {
        "q": 0 if q is None else Pointer(q),
        "k": Pointer(k),
        "to_q": Pointer(operands, sizes.q_offset),
        "to_k": Pointer(operands, sizes.k_offset),
        "rows": rows,
        "columns": columns,
        "positions": sizes.s,
    }
    reads = (k,) if q is None or q is k else (q, k)
    return copy_call("put", "positions", fields, reads, operands, (1 if q is None else 2) * rows * columns, cores)


def copy_call(
    verb: str, what: str, fields: dict[str, int | Pointer], reads: tuple[Local, ...], made: Local, size: int, cores: int
) -> Call:
    """A function of the driver by which the cores copy blocks of as many bytes."""
    told = (f"struct ita_heads_{what}", tuple(fields), tuple(fields.values()))
    return Call(f"ita_heads_{verb}_{what}", *told, reads, (made,), CoreCost(copy_cycles(size, cores)))


def copy_cycles(size: int, cores: int) -> int:
    """Blocks of 16 bytes that a core copies; each takes about 16 cycles, as simulated."""
    return 100 + 16 * -(-size // (SPLIT * cores))


def check_rule(rule: ItaRequantization, reach: int) -> None:
    """Refuse what the engines cannot shift, or multiply in 32 bits."""
    refuse_if(rule.shift > LARGEST_SHIFT, f"a requantization shifts by {rule.shift}: {LARGEST_SHIFT} at most")
    refuse_if(reach * rule.multiplier >= PRODUCT_LIMIT, "a sum and its multiplier need more than 32 bits")


def is_whole(*extents: int) -> bool:
    """Tell if extents are whole tiles."""
    return not any(extent % TILE for extent in extents)
