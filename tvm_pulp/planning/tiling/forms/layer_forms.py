"""The ways to run a layer, what every engine offers for it, and which is the cheapest."""

from dataclasses import dataclass, field
from functools import cached_property

from tvm_pulp.errors import UserError
from tvm_pulp.planning.tiling.forms.cluster_forms import CLUSTER, DirectForm, core_forms
from tvm_pulp.planning.tiling.forms.cuts import Cuts, MissingL1, Tiling
from tvm_pulp.planning.tiling.forms.split_form import SplitForm, pin_of
from tvm_pulp.planning.tiling.forms.team_form import TeamForm
from tvm_pulp.qnn.network import Layer
from tvm_pulp.soc.cost_model import CostModel
from tvm_pulp.uma.box import Box
from tvm_pulp.uma.strategy import Form, Refusal
from tvm_pulp.uma.teams import parts

# Cores take a layer from an accelerator only if they are expected to be this much faster: that is an estimate, and the
# accelerator needs less energy.
_CORES_HANDICAP = 1.1
# Many small jobs, each with its own programming and waiting, cost more than the sum of their cycles.
_FINER_HANDICAP = 1.25
# Cores that work for an accelerator's form can do nothing else meanwhile: this part of their cycles counts once more.
_HELP_HANDICAP = 0.3


@dataclass(frozen=True)
class Offer:
    """The offer of an engine for a layer: planned cycles, with a remark, or why it does not fit."""

    engine: str
    form: str
    cycles: int | None
    reason: str = ""


@dataclass(frozen=True, eq=False)
class LayerForms:
    """Ways to run a layer: those that can be cut, and the last resort of working from L2.

    `engine`, where it is asked for: the engine that the layer has to run on, or both of a split one; "" for any.
    Answers are remembered; identical questions are asked often.
    """

    layer: Layer
    cuts: tuple[Cuts, ...]
    refusals: tuple[Refusal, ...]
    costs: CostModel
    # What regions that hold these operators otherwise would take: other ways to cover the network.
    rivals: tuple[Offer, ...] = ()
    # No other forms are looked for, on teams or from L2: a user stated these.
    only_stated: bool = False
    _on_teams: dict[int, tuple[Cuts, ...]] = field(default_factory=dict, repr=False)
    _cheapest: dict[tuple[int, str], tuple[Tiling, tuple[Offer, ...]]] = field(default_factory=dict, repr=False)
    _tilings: dict[tuple[int, str], Tiling] = field(default_factory=dict, repr=False)
    # The forms by their handicapped cycles within so many bytes, the most that were asked for.
    _by_cycles: dict[int, list[tuple[float, int]]] = field(default_factory=dict, repr=False)

    @cached_property
    def tiled(self) -> tuple[Form, ...]:
        """The forms that can be cut."""
        return tuple(cuts.form for cuts in self.cuts)

    def pattern_of(self, form: Form) -> str:
        """The engine's name for what a form runs here."""
        return next((cuts.pattern for cuts in self.cuts if cuts.form is form), self.layer.operator)

    def on_team(self, team: int) -> tuple[Cuts, ...]:
        """The forms of a part of the cores."""
        if team not in self._on_teams:
            costs = CostModel(self.costs.soc, self.costs.cores // parts(team))
            forms = (TeamForm(form, team) for form in ([] if self.only_stated else core_forms(self.layer, costs)))
            self._on_teams[team] = tuple(Cuts(form, self.layer, costs) for form in forms)
        return self._on_teams[team]

    def tiling(self, l1_bytes: int, engine: str = "") -> Tiling:
        """The cheapest tiling within the bytes; raises where none fits."""
        key = (l1_bytes, engine)
        if key not in self._tilings:
            self._tilings[key] = self._within(*key) or self._asked(*key)[0]
        return self._tilings[key]

    def offers(self, l1_bytes: int, engine: str = "") -> tuple[Offer, ...]:
        """The offers of all engines within the bytes, and of other ways to cover its operators."""
        return (*self._asked(l1_bytes, engine)[1], *self.rivals)

    def fits(self, l1_bytes: int, engine: str = "") -> bool:
        """Tell if the layer can be cut to these bytes."""
        try:
            self.tiling(l1_bytes, engine)
        except UserError:
            return False
        return True

    def _asked(self, l1_bytes: int, engine: str) -> tuple[Tiling, tuple[Offer, ...]]:
        if (l1_bytes, engine) not in self._cheapest:
            self._cheapest[l1_bytes, engine] = cheapest(self, l1_bytes, engine)
            if l1_bytes > max(self._by_cycles, default=0):
                cut = {n: c.within(l1_bytes) for n, c in enumerate(self.cuts) if not isinstance(c.form, SplitForm)}
                found = sorted((handicapped(t), n) for n, t in cut.items() if isinstance(t, Tiling))
                self._by_cycles.clear()
                self._by_cycles[l1_bytes] = found
        return self._cheapest[l1_bytes, engine]

    def _within(self, l1_bytes: int, engine: str) -> Tiling | None:
        """The cheapest tiling by what is known of more bytes, with which no form takes longer; None where none fits."""
        most, costs = next(iter(self._by_cycles.items()), (0, []))
        if l1_bytes >= most or engine:
            return None
        found: list[tuple[float, int, Tiling]] = []
        for cost, number in costs:
            if found and min(found)[0] < cost:
                break
            tiling = self.cuts[number].within(l1_bytes)
            if isinstance(tiling, Tiling):
                found.append((handicapped(tiling), number, tiling))
        # Equal cycles: the form named first.
        return min(found)[2] if found else None

    @cached_property
    def from_l2(self) -> Tiling:
        """The last resort."""
        form = DirectForm(self.layer, self.costs)
        whole = Box.whole(self.layer.outputs[0].spec.shape)
        return Tiling(form, whole.size, 0, form.recipe(whole).cycles, (whole,), form.recipe)


def cheapest(entry: LayerForms, l1_bytes: int, pin: str) -> tuple[Tiling, tuple[Offer, ...]]:
    """The cheapest form of a layer within so many bytes, cut to fit, and what all engines offered."""
    layer, offers, choices = entry.layer, [], []
    smallest: int | None = None
    for cuts in entry.cuts:
        form = cuts.form
        # Whether two engines for one layer pay shows in the whole network only.
        if isinstance(form, SplitForm) and pin != pin_of(form):
            continue
        tiling = cuts.within(l1_bytes)
        if isinstance(tiling, Tiling):
            choices.append(tiling)
            offers.append(Offer(form.engine, form.name, tiling.cycles))
        else:
            smallest = tiling if smallest is None else min(smallest, tiling)
            offers.append(Offer(form.engine, form.name, None, f"needs {tiling} bytes of L1"))
    can_be_cut = any(form.axes() for form in entry.tiled)
    if not layer.parts and not entry.only_stated and not can_be_cut and not choices:
        # A layer that cannot be cut works from L2; one that can be must fit: a silent cliff would help nobody.
        choices.append(entry.from_l2)
        offers.append(Offer(CLUSTER, choices[0].form.name, choices[0].cycles))
    if pin:
        choices = [c for c in choices if pin_of(c.form) == pin]
        if not choices:
            why = next((r.reason for r in entry.refusals if r.engine == pin.split("+")[0]), "it does not fit")
            if "+" in pin and not any(pin_of(form) == pin for form in entry.tiled):
                why = "dividing it between them would not be faster"
            raise UserError(f"--pin {layer.name}={pin}: {pin} cannot run this {layer.operator} because {why}")
    if not choices:
        if smallest is None:
            raise UserError(f"layer '{layer.name}' ({layer.operator}) runs on no engine by itself as it is stated")
        raise MissingL1(layer, smallest, l1_bytes)
    # Equal cycles: the engine named first.
    return min(choices, key=handicapped), tuple(offers)


def handicapped(tiling: Tiling) -> float:
    """Cycles by which forms are compared."""
    finer = _FINER_HANDICAP if tiling.finer else 1
    if tiling.form.engine == CLUSTER:
        return tiling.cycles * _CORES_HANDICAP * finer
    first = tiling.recipe(tiling.tiles[0])
    help_cycles = first.core_cycles * len(tiling.tiles) if first.engine_cycles else 0
    return tiling.cycles * finer + _HELP_HANDICAP * help_cycles
