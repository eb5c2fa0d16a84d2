"""The ways to run a layer: those of the cores, splits between engines, how each can be cut, and which is cheapest."""

from tvm_pulp.planning.tiling.forms.cluster_forms import CLUSTER, DirectForm, TiledForm
from tvm_pulp.planning.tiling.forms.cuts import Cuts, MissingL1, Tiling, footprint
from tvm_pulp.planning.tiling.forms.engine_choice import (
    EngineChoice,
    LayerForms,
    Offer,
    cheapest,
    check_pins,
    handicapped,
    offered_forms,
)
from tvm_pulp.planning.tiling.forms.split_form import SplitForm, pin_of, split_form
from tvm_pulp.planning.tiling.forms.team_form import TeamForm, team_of_form
from tvm_pulp.planning.tiling.forms.tile_rules import tile_axes, tile_part

__all__ = [
    "CLUSTER",
    "Cuts",
    "DirectForm",
    "EngineChoice",
    "LayerForms",
    "MissingL1",
    "Offer",
    "SplitForm",
    "TeamForm",
    "TiledForm",
    "Tiling",
    "cheapest",
    "check_pins",
    "footprint",
    "handicapped",
    "offered_forms",
    "pin_of",
    "split_form",
    "team_of_form",
    "tile_axes",
    "tile_part",
]
