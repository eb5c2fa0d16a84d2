"""The rest of a kernel's code in the instruction caches when it is called again.

The caches replace a random line: after n lines were fetched, a line that was there is still there with probability
(1 - 1 / lines) to the power n. Expected values are enough here, so no addresses are needed.
"""

import math

from tvm_pulp.soc.cost_model import CostModel


class CodeCache:
    """Expected fetches, code by code."""

    def __init__(self, costs: CostModel) -> None:
        self._costs = costs
        self._refilled = 0.0
        self._fetched = 0.0
        self._used: dict[str, tuple[float, float]] = {}

    def fetch(self, code: str, lines: float) -> int:
        """Cycles lost to fetching so many lines of code."""
        costs = self._costs
        gone = gone_from_own = 1.0
        if code in self._used:
            refilled, fetched = self._used[code]
            gone = 1.0 - math.exp((refilled - self._refilled) / costs.shared_lines)
            gone_from_own = 1.0 - math.exp((fetched - self._fetched) / costs.own_lines)
        self._refilled += gone * lines
        self._fetched += gone_from_own * lines
        self._used[code] = (self._refilled, self._fetched)
        late = gone * costs.refill_cycles + max(0.0, gone_from_own - gone) * costs.shared_hit_cycles
        return round(lines * late)
