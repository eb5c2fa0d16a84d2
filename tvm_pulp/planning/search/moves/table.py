"""The table of moves, in the order in which they are tried, each from the best plan so far, and their patience.

`scripts/bench search` shows what each of them brings on the networks of BENCHMARKS.md.
"""

from dataclasses import dataclass

from tvm_pulp.planning.search.moves.mix_layers import mix_layers
from tvm_pulp.planning.search.moves.move import SearchMove
from tvm_pulp.planning.search.moves.side_by_side import side_by_side
from tvm_pulp.planning.search.moves.tile_pipelines import change_form, pipeline_rows, pipeline_tiles
from tvm_pulp.planning.search.moves.transfers import fetch_by_order, join_bundles, stream_constants

# Plans of more steps take long: what cuts layers anew is left out.
MANY_STEPS = 700
# Of plans of more steps than this a move ends sooner.
LONG_PLAN = 256


@dataclass(frozen=True)
class Patience:
    """A move ends where a proposal takes `worse` times the cycles of the best plan, or `steps` in a row got slower."""

    worse: float
    steps: int


# Measured on MLPerf Tiny's networks and ICCT with an accelerator: nothing that came later was the fastest.
PATIENCE = Patience(1.05, 2)
PATIENCE_IF_LONG = Patience(1.03, 1)
# By how much a plan has to be faster before further moves start from it: less is within the estimates' error.
MARGIN = 0.002

# Independent layers on parts of the cores: halves and quarters of two, three and more chains (MemPool).
TEAM = SearchMove("team", side_by_side, ((2, 3), (2, 6, 7), (4, 5, 6, 7)))

MOVES: tuple[SearchMove, ...] = (
    # Shares of the first layer of a chain that its first tile takes (dscnn and resnet8, jobs that the cores finish).
    SearchMove("mix", mix_layers, (0.75, 0.68, 0.6), most_steps=MANY_STEPS),
    # Cycles that a step of a pipeline should take (MLPerf Tiny with an accelerator): of all layers, then of those with
    # the number of rows that takes most cycles, and the next ones (3.7 % of mobilenetv1_1.0_128).
    SearchMove("pipeline", pipeline_tiles, (4000, 2500, 1500, 1000), most_steps=MANY_STEPS),
    SearchMove("pipeline rows", pipeline_rows, (2500, 1500, 1000), times=3, most_steps=MANY_STEPS),
    # The same of a layer in another form of its engine: little in the mean, 1.8 % of resnet.tflite.
    SearchMove("form", change_form, (4000, 1500), times=6, most_steps=LONG_PLAN),
    # Cycles by which large constants are there before their layer (resnet8 and ICCT).
    SearchMove("lead", fetch_by_order, (400, 2500, 5000)),
    # Bytes that come from L3 together (mobilenetv1_1.0_128 without weight memory).
    SearchMove("batch", stream_constants, (65536, 131072, 262144, 524288)),
    # Bytes of constants and records of neighbouring layers that travel together (decoders).
    SearchMove("bundle", join_bundles, (1024, 2048, 4096)),
    TEAM,
)
