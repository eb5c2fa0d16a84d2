"""Commands of the driver: what a job of the plan says besides addresses."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tvm_pulp.uma import Local
from uma_backends.ita.geometry import MOST_CONTEXTS, TILE_BYTES
from uma_backends.ita.registers import Constants, LayerKind, activation_code

# Words of `struct ita_command` before the panels.
HEADER_WORDS = 18
JOB_BITS = 6  # of a job, in words about sums
PRODUCT, ATTENTION = 0, 1
NO_BIAS, BIAS_BY_COLUMN, BIAS_BY_ROW = 0, 1, 2


@dataclass(frozen=True)
class Panel:
    """A column of tiles: a buffer, and bytes from its start."""

    local: Local
    offset: int = 0


@dataclass(frozen=True)
class ItaCommand:
    """One `struct ita_command`; sizes in tiles."""

    kind: int
    constants: Constants
    rows: int
    columns: int
    inner: int
    panels: tuple[Panel, ...]
    l1_base: int
    left_stride: int = TILE_BYTES
    right_stride: int = TILE_BYTES
    bias: Local | None = None
    bias_kind: int = NO_BIAS
    bias_offset: int = 0  # bytes

    @property
    def words(self) -> int:
        return HEADER_WORDS + len(self.panels)

    @property
    def tiles_before(self) -> int:
        """How many tiles of its sum come before each of the first jobs: what its context must not take for a sum."""
        logits = self.columns * self.inner
        found = 0
        for job in range(self.first_jobs):
            if self.kind == PRODUCT:
                found |= _sums(products=job % self.inner) << JOB_BITS * job
            elif job < logits:
                found |= _sums(logits=job % self.inner) << JOB_BITS * job
            else:
                found |= _sums(results=(job - logits) % self.columns) << JOB_BITS * job
        return found

    @property
    def sums_left(self) -> int:
        """Lengths of sums that TILES of the contexts states behind all jobs, and how far these move others."""
        s, e, p, _ = self.constants.tiles
        last = range(MOST_CONTEXTS - self.first_jobs, MOST_CONTEXTS)
        return self.first_jobs * JOB_BITS << 24 | sum(_sums(e, p, s) << JOB_BITS * place for place in last)

    @property
    def jobs(self) -> int:
        """Jobs of the engine: one for every product of tiles."""
        return self.rows * self.columns * self.inner * (1 if self.kind == PRODUCT else 2)

    @property
    def first_jobs(self) -> int:
        """Jobs that find contexts as others left them."""
        return min(MOST_CONTEXTS, self.jobs)


def _sums(products: int = 0, logits: int = 0, results: int = 0) -> int:
    """Lengths of sums, two bits each; those that no context takes for what comes before its first job are 0."""
    return sum(count << 2 * i for i, count in enumerate((products, logits, results)) if count < MOST_CONTEXTS)


def panels_of(local: Local, count: int, distance: int) -> tuple[Panel, ...]:
    """Panels that lie in one buffer at equal distances."""
    return tuple(Panel(local, i * distance) for i in range(count))


def command_words(command: ItaCommand, _slot: str, address: Callable[[Any], str]) -> list[str]:
    """The words of a command as C expressions."""
    c = command
    layer = LayerKind.SINGLE_ATTENTION if c.kind == ATTENTION else LayerKind.LINEAR
    engine = int(layer) | activation_code(c.constants.activation) << 2
    sizes = (c.kind | engine << 8 | c.bias_kind << 16, c.rows, c.columns, c.inner, c.left_stride, c.right_stride)
    bias = "0u" if c.bias is None else _offset(address(c.bias), c.bias_offset - c.l1_base)
    pointers = [_offset(address(p.local), p.offset - c.l1_base) for p in c.panels]
    constants = (c.tiles_before, c.sums_left, *c.constants.words())
    return [*(f"{n}u" for n in sizes), bias, *(f"{n}u" for n in constants), *pointers]


def command_fields(command: ItaCommand) -> dict[str, str]:
    """The fields of words, by their number."""
    c, activation = command, command.constants.activation
    bias = ("no bias", "bias by column", "bias by row")[c.bias_kind]
    after = type(activation).__name__.lower() if activation is not None else "no activation"
    sizes = ("rows", "columns", "inner", "bytes between left panels", "bytes between right panels")
    tiles = ", ".join(f"{name} {count}" for name, count in zip("sepf", c.constants.tiles, strict=True))
    rules = {slot.name.lower(): rule for slot, rule in sorted(c.constants.rules.items())}
    names = ("multiplier", "shift", "add")
    told = [" ".join(f"{slot} {getattr(rule, name)}" for slot, rule in rules.items()) for name in names]
    found = {0: f"{'attention' if c.kind == ATTENTION else 'product'}, {after}, {bias}"}
    found |= {1 + i: name for i, name in enumerate(sizes)}
    found |= {6: "bias", 7: "tiles before the first jobs", 8: "sums in contexts behind it", 9: f"tiles {tiles}"}
    found |= {10 + 2 * i: f"{name}s: {text}" for i, (name, text) in enumerate(zip(names, told, strict=True))}
    return {str(number): text for number, text in found.items()}


def _offset(text: str, offset: int) -> str:
    return f"{text} {'-' if offset < 0 else '+'} {abs(offset)}u" if offset else text


def reads_of(panels: Sequence[Panel], *more: Local | None) -> tuple[Local, ...]:
    """Buffers behind panels, each once, and those beside them."""
    return tuple(dict.fromkeys([p.local for p in panels] + [m for m in more if m is not None]))
