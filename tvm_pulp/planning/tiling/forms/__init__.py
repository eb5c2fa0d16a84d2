"""The ways to run a layer: those of the cores, splits between engines, how each can be cut, and which is cheapest."""

from tvm_pulp.planning.tiling.forms.cluster_forms import CLUSTER
from tvm_pulp.planning.tiling.forms.cuts import Cuts, Tiling
from tvm_pulp.planning.tiling.forms.layer_forms import LayerForms, Offer, handicapped
from tvm_pulp.planning.tiling.forms.offered_forms import check_pins, offered_forms
from tvm_pulp.planning.tiling.forms.split_form import SplitForm, pin_of
from tvm_pulp.planning.tiling.forms.team_form import team_of_form

__all__ = [
    "CLUSTER",
    "Cuts",
    "LayerForms",
    "Offer",
    "SplitForm",
    "Tiling",
    "check_pins",
    "handicapped",
    "offered_forms",
    "pin_of",
    "team_of_form",
]
