"""What is left of a kernel's code in the instruction caches when it is called again.

The caches replace a random line: after n lines were fetched, a line that was there is still there with probability
(1 - 1 / lines) to the power n. Expected values are enough here, so no addresses are needed.
"""

from __future__ import annotations

import math

# Lines of 16 bytes in the cache that the cores share, and in a core's own. Of the 256 shared ones three quarters count:
# some of the 64 sets are full long before the others.
SHARED_LINES = 190
OWN_LINES = 32
# Cycles until a line arrives from L2, and from the shared cache.
REFILL_CYCLES = 18
SHARED_CYCLES = 2


class CodeCache:
    """Expected fetches, code by code."""

    def __init__(self) -> None:
        self._refilled = 0.0
        self._fetched = 0.0
        self._used: dict[str, tuple[float, float]] = {}

    def fetch(self, code: str, cold_cycles: int) -> int:
        """Cycles lost to fetching code that takes `cold_cycles` from L2."""
        lines = cold_cycles / REFILL_CYCLES
        gone = gone_from_own = 1.0
        if code in self._used:
            refilled, fetched = self._used[code]
            gone = 1.0 - math.exp((refilled - self._refilled) / SHARED_LINES)
            gone_from_own = 1.0 - math.exp((fetched - self._fetched) / OWN_LINES)
        self._refilled += gone * lines
        self._fetched += gone_from_own * lines
        self._used[code] = (self._refilled, self._fetched)
        return round(lines * (gone * REFILL_CYCLES + max(0.0, gone_from_own - gone) * SHARED_CYCLES))
