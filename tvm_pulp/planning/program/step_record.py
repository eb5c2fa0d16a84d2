"""Words of step records: those of a record, of the commands behind it, and how many a step takes at most.

`struct tvm_pulp_step` and the commands of `tvm_pulp/steps.h` state them for the executor. Everybody who asks how
large a record gets asks here: the planner, which leaves room for it in a bundle, and the emission of C, which fills
that room.
"""

from collections.abc import Iterable

# Of a record without commands, and agents that may have a list of them.
RECORD_WORDS = 6
AGENTS = 4
# Behind the commands of an agent.
END_WORDS = 1
# Commands: a run of bytes, or rows of a cache; lines that lie apart; the beginning of a group; a job; a constant, and
# rows of a cache, from L3.
COMMAND_WORDS = 3
LINES_WORDS = 5
GROUP_WORDS = 1
SUBMIT_WORDS = 3
FETCH_WORDS = 4
FETCH_ROWS_WORDS = 3


def transfer_words(*, lines: bool) -> int:
    """Words of a command of the DMA; `lines`: of several that lie apart."""
    return LINES_WORDS if lines else COMMAND_WORDS


def most_record_words(moves: Iterable[int], *, jobs: int, fetches: int) -> int:
    """Words of a record with all its commands, at most: agents and groups are chosen after it has its room.

    `moves`: words of the commands of every move, which may be a group by itself.
    """
    commands = list(moves)
    agents = min(AGENTS, len(commands) + jobs + fetches)
    own = RECORD_WORDS + END_WORDS * agents + SUBMIT_WORDS * jobs + FETCH_WORDS * fetches
    return own + sum(commands) + GROUP_WORDS * len(commands)


def expected_record_words(steps: int, tiles: int) -> int:
    """Words of the records of a layer before anybody knows what moves when: three moves of two commands for every tile.

    Cuts are compared by it; nothing lies where it says.
    """
    move = GROUP_WORDS + END_WORDS + 2 * COMMAND_WORDS
    return steps * (RECORD_WORDS + AGENTS * END_WORDS) + 3 * tiles * move
