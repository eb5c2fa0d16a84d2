"""Cycles of jobs on a memory without contention, as the public RTL takes them."""

QUEUE_GAP = 1  # between a job's end and the start of one that waits
TRIGGER_CYCLES = 2  # from the trigger to the start of a job that finds the engine idle
# Until an idle engine begins with a command: the driver finds addresses and writes registers.
START_CYCLES = 400

# With and without bias.
_WRITING = {True: 306, False: 305}
_INNER = {True: 271, False: 264}
# A first job loads its first block of weights before it can begin.
_PRELOAD = {True: {True: 9, False: 8}, False: {True: 13, False: 18}}
# The last job of a chain prefetches nothing, which only jobs that are bound by the port notice.
_NO_NEXTLOAD = {True: 9, False: 0}


def job_cycles(*, is_last: bool, has_bias: bool, preload: bool = False, nextload: bool = True) -> int:
    """One tile of 64x64x64; `is_last`: the last inner tile, which writes."""
    cycles = _WRITING[has_bias] if is_last else _INNER[has_bias]
    cycles += _PRELOAD[is_last][has_bias] if preload else 0
    return cycles - (0 if nextload else _NO_NEXTLOAD[is_last])


def _step_cycles(outputs: int, inner: int, has_bias: bool, gap: int = QUEUE_GAP) -> int:
    """A step in the middle of a chain, the gap behind each job included."""
    writing = job_cycles(is_last=True, has_bias=has_bias) + gap
    return outputs * (writing + (inner - 1) * (job_cycles(is_last=False, has_bias=has_bias) + gap))


def _chain_cycles(steps: int, first_writes: bool, first_bias: bool, gap: int = QUEUE_GAP) -> int:
    """All steps of a chain: its first job preloads, its last one prefetches nothing and has no gap behind it."""
    return steps + _PRELOAD[first_writes][first_bias] - _NO_NEXTLOAD[True] - gap


def product_cycles(rows: int, columns: int, inner: int, *, has_bias: bool, gap: int = QUEUE_GAP) -> int:
    """A product of tiles whose jobs wait in the queue; without the gaps between them, what the engine is busy."""
    return _chain_cycles(_step_cycles(rows * columns, inner, has_bias, gap), inner == 1, has_bias, gap)


def attention_cycles(rows: int, s: int, p: int, gap: int = QUEUE_GAP) -> int:
    """Logits, softmax and products with values of some tiles of queries, with s of keys."""
    steps = _step_cycles(rows * s, p, False, gap) + _step_cycles(rows * p, s, False, gap)
    return _chain_cycles(steps, p == 1, False, gap)


def head_cycles(s: int, e: int, p: int) -> int:
    """One head with its projections."""
    steps = 3 * _step_cycles(s * p, e, True) + _step_cycles(s * s, p, False) + _step_cycles(s * p, s, False)
    return _chain_cycles(steps + _step_cycles(s * e, p, True), e == 1, True)
