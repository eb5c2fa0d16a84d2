"""Teams: cores that run a step together and meet at a barrier of their own, where the machine lets them.

They are numbered as the nodes of a binary tree: 1 all cores, 2 and 3 its halves, 4 to 7 its quarters. A team is
described by the quarters that belong to it, one bit each.
"""

ALL_CORES = 1
QUARTERS = 4
# The team of the core that gives commands.
FIRST_QUARTER = 4
EVERYBODY = 0b1111


def parts(team: int) -> int:
    """How many teams of its size there are: 1, 2 or 4."""
    return 1 << team.bit_length() - 1


def quarters(team: int) -> int:
    """The quarters of a team, as bits."""
    count = QUARTERS // parts(team)
    return ((1 << count) - 1) << count * (team - parts(team))


def joint(*teams: int) -> int:
    """The smallest team that holds all of these."""
    found = teams[0]
    for team in teams[1:]:
        while found != team:
            found, team = (found // 2, team) if found > team else (found, team // 2)
    return found


def team_of(bits: int) -> int:
    """The smallest team that holds these quarters."""
    return joint(*(QUARTERS + number for number in range(QUARTERS) if bits >> number & 1))
