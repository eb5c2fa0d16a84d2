"""Equal blocks of a network in a row: what is decided for the first is decided for all."""

from collections.abc import Hashable, Sequence

from tvm_pulp.planning.search.solver.layer_cost import activations
from tvm_pulp.qnn.network import Network

# Fewer layers than this are not worth sharing.
_SHORTEST = 8


def wiring(network: Network) -> list[tuple[int, ...]]:
    """For every layer how far back its inputs are made; 0 for inputs of the network."""
    producer = {t: i for i, layer in enumerate(network.layers) for t in activations(layer)[1]}
    return [
        tuple(index - producer[t] if t in producer else 0 for t in activations(layer)[0])
        for index, layer in enumerate(network.layers)
    ]


def find_repeats(kinds: Sequence[Hashable]) -> dict[int, int]:
    """Layers that repeat an earlier one, with that layer: the longest run of equal blocks.

    >>> find_repeats("xabababababy")
    {3: 1, 4: 2, 5: 1, 6: 2, 7: 1, 8: 2, 9: 1, 10: 2}
    """
    count = len(kinds)
    best = (0, 0, 0)  # layers that repeat, start, period
    for period in range(1, count // 2 + 1):
        run = 0
        for index in range(count - period):
            run = run + 1 if kinds[index] == kinds[index + period] else 0
            whole = run // period * period
            if run and whole > best[0]:
                best = (whole, index + 1 - run, period)
    length, start, period = best
    if length < _SHORTEST:
        return {}
    return {start + period + i: start + i % period for i in range(length)}
