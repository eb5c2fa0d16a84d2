"""Moves: from a plan to decisions that may be better; one table says which there are and how long each is tried."""

from tvm_pulp.planning.search.moves.apply_moves import Tried, improve, propose, tell, watch_moves
from tvm_pulp.planning.search.moves.table import MOVES, TEAM

__all__ = ["MOVES", "TEAM", "Tried", "improve", "propose", "tell", "watch_moves"]
