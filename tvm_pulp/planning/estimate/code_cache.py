"""The rest of a kernel's code in the instruction caches when it is called again.

The caches replace a random line: after n lines were fetched, a line that was there is still there with probability
(1 - 1 / lines) to the power n. Expected values are enough here, so no addresses are needed.
"""

import math

from tvm_pulp.soc.cost_model import CostModel


class CodeCache:
    """Expected fetches, code by code."""

    def __init__(self, costs: CostModel) -> None:
        self._shared_lines, self._own_lines = costs.shared_lines, costs.own_lines
        self._refill_cycles, self._shared_hit_cycles = costs.refill_cycles, costs.shared_hit_cycles
        self._refilled = 0.0
        self._fetched = 0.0
        self._used: dict[str, tuple[float, float]] = {}

    def fetch(self, code: str, lines: float) -> int:
        """Cycles lost to fetching so many lines of code."""
        gone = gone_from_own = 1.0
        used = self._used.get(code)
        if used is not None:
            gone = 1.0 - math.exp((used[0] - self._refilled) / self._shared_lines)
            gone_from_own = 1.0 - math.exp((used[1] - self._fetched) / self._own_lines)
        self._refilled += gone * lines
        self._fetched += gone_from_own * lines
        self._used[code] = (self._refilled, self._fetched)
        late = gone * self._refill_cycles
        if gone_from_own > gone:
            late += (gone_from_own - gone) * self._shared_hit_cycles
        return round(lines * late)
