"""Engine choice: every engine offers its planned cycles for a layer, the cheapest wins unless the user pins."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from tvm_pulp.errors import UserError
from tvm_pulp.grouped import grouped
from tvm_pulp.planning.tiling.forms.cluster_forms import CLUSTER, DirectForm, TiledForm
from tvm_pulp.planning.tiling.forms.cuts import Cuts, MissingL1, Tiling
from tvm_pulp.planning.tiling.forms.split_form import SplitForm, pin_of, split_form
from tvm_pulp.planning.tiling.forms.team_form import TeamForm
from tvm_pulp.qnn.network import Layer, Network
from tvm_pulp.soc.cost_model import CostModel
from tvm_pulp.uma.annotate import Annotated
from tvm_pulp.uma.backend import UMABackend
from tvm_pulp.uma.box import Box
from tvm_pulp.uma.recipe import Load, Recipe, Store
from tvm_pulp.uma.registry import core_schedules
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


@dataclass(frozen=True)
class LayerForms:
    """Ways to run a layer: those that can be cut, and the last resort of working from L2."""

    layer: Layer
    cuts: tuple[Cuts, ...]
    refusals: tuple[Refusal, ...]
    costs: CostModel
    # What regions that hold these operators otherwise would take: other ways to cover the network.
    rivals: tuple[Offer, ...] = ()
    _on_teams: dict[int, tuple[Cuts, ...]] = field(default_factory=dict, compare=False, repr=False)

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
            forms = (TeamForm(form, team) for form in _core_forms(self.layer, costs))
            self._on_teams[team] = tuple(Cuts(form, self.layer, costs) for form in forms)
        return self._on_teams[team]

    @cached_property
    def from_l2(self) -> Tiling:
        """The last resort."""
        form = DirectForm(self.layer, self.costs)
        whole = Box.whole(self.layer.outputs[0].spec.shape)
        return Tiling(form, whole.size, 0, form.recipe(whole).cycles, (whole,), form.recipe)


@dataclass
class EngineChoice:
    """Cuts layers to fit, remembering answers; identical questions are asked often."""

    forms: Sequence[LayerForms]
    pins: Mapping[str, str]
    _known: dict[tuple[int, int], tuple[Tiling, tuple[Offer, ...]]] = field(default_factory=dict)
    _tilings: dict[tuple[int, int], Tiling] = field(default_factory=dict)
    # Of every layer: the most bytes that were asked for, and its forms within them, the cheapest first.
    _widest: dict[int, tuple[int, list[tuple[float, int]]]] = field(default_factory=dict)

    def tiling(self, index: int, l1_bytes: int) -> Tiling:
        """The cheapest tiling of a layer within the bytes; raises where none fits."""
        if (index, l1_bytes) not in self._tilings:
            self._tilings[index, l1_bytes] = self._within(index, l1_bytes) or self.offers(index, l1_bytes)[0]
        return self._tilings[index, l1_bytes]

    def offers(self, index: int, l1_bytes: int) -> tuple[Tiling, tuple[Offer, ...]]:
        """The cheapest tiling within the bytes, and what all engines offered."""
        if (index, l1_bytes) not in self._known:
            entry = self.forms[index]
            self._known[index, l1_bytes] = cheapest(entry, l1_bytes, self.pins.get(entry.layer.name))
            if l1_bytes > self._widest.get(index, (0, []))[0]:
                cut = {n: c.within(l1_bytes) for n, c in enumerate(entry.cuts) if not isinstance(c.form, SplitForm)}
                self._widest[index] = (
                    l1_bytes,
                    sorted((handicapped(t), n) for n, t in cut.items() if not isinstance(t, int)),
                )
        return self._known[index, l1_bytes]

    def _within(self, index: int, l1_bytes: int) -> Tiling | None:
        """The cheapest tiling by what is known of more bytes, with which no form takes longer; None where none fits."""
        most, costs = self._widest.get(index, (0, []))
        if l1_bytes >= most or self.forms[index].layer.name in self.pins:
            return None
        found: list[tuple[float, int, Tiling]] = []
        for cost, number in costs:
            if found and min(found)[0] < cost:
                break
            tiling = self.forms[index].cuts[number].within(l1_bytes)
            if isinstance(tiling, Tiling):
                found.append((handicapped(tiling), number, tiling))
        # Equal cycles: the form named first.
        return min(found)[2] if found else None

    def fits(self, index: int, l1_bytes: int) -> bool:
        """Tell if a layer can be cut to these bytes."""
        try:
            self.tiling(index, l1_bytes)
        except UserError:
            return False
        return True


def check_pins(network: Network, engines: Sequence[tuple[UMABackend, Any]], pins: Mapping[str, str]) -> None:
    """Pins name layers and engines that exist."""
    known = {layer.name for layer in network.layers}
    names = {CLUSTER, *(name for b, _ in engines for name in (b.target_name, f"{b.target_name}+{CLUSTER}"))}
    for node, engine in pins.items():
        if node not in known:
            raise UserError(f"--pin {node}={engine}: there is no layer '{node}'; `tvmc explain` lists them")
        if engine not in names:
            raise UserError(
                f"--pin {node}={engine}: engine '{engine}' is not part of this target ({', '.join(sorted(names))})"
            )


def offered_forms(
    layers: Sequence[Layer], annotated: Annotated, soc: Any, engines: Sequence[tuple[UMABackend, Any]], cores: int
) -> list[LayerForms]:
    """Offers of every engine for every layer. `engines` are backends with their contexts, by priority.

    The cores run single operators; a region of several exists on the engines only whose pattern found it.
    """
    costs = CostModel(soc, cores)
    named = {backend.target_name: (backend, context) for backend, context in engines}
    regions = grouped((region.layer, region) for region in annotated.regions)
    found = []
    for layer in layers:
        cuts: list[Cuts] = []
        refusals = list(annotated.refusals.get(layer, ()))
        for region in regions.get(layer, ()):
            backend, context = named[region.engine]
            answer = backend.offer(region.pattern, layer, context)
            if isinstance(answer, Refusal):
                refusals.append(answer)
            else:
                cuts += [Cuts(form, layer, costs, region.pattern) for form in answer]
        if not layer.parts:
            on_cores = [Cuts(form, layer, costs) for form in _core_forms(layer, costs)]
            both = split_form(layer, cuts, on_cores[:-1])
            cuts += [*on_cores, *([both] if both else [])]
        if any(t.storage.level == "l1" for t in layer.operands):
            cuts = [entry for entry in cuts if _in_place(entry.whole)] or cuts
        found.append(LayerForms(layer, tuple(cuts), tuple(refusals), costs))
    return found


def _core_forms(layer: Layer, costs: CostModel) -> list[Form]:
    """The ways in which so many cores run a layer; the one that they always have is the last."""
    return [*(form for schedule in core_schedules() for form in schedule(layer, costs)), TiledForm(layer, costs)]


def _in_place(whole: Recipe) -> bool:
    """Tell if a layer works on state in L1 where it lies."""
    return not any(isinstance(s, Load | Store) and s.tensor.storage.level == "l1" for s in whole.steps)


def cheapest(entry: LayerForms, l1_bytes: int, pin: str | None) -> tuple[Tiling, tuple[Offer, ...]]:
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
    if not layer.parts and not any(form.axes() for form in entry.tiled) and not choices:
        # A layer that cannot be cut works from L2; one that can be must fit: a silent cliff would help nobody.
        choices.append(entry.from_l2)
        offers.append(Offer(CLUSTER, choices[0].form.name, choices[0].cycles))
    if pin is not None:
        choices = [c for c in choices if pin_of(c.form) == pin]
        if not choices:
            why = next((r.reason for r in entry.refusals if r.engine == pin.split("+")[0]), "it does not fit")
            if "+" in pin and not any(pin_of(form) == pin for form in entry.tiled):
                why = "dividing it between them would not be faster"
            raise UserError(f"--pin {layer.name}={pin}: {pin} cannot run this {layer.operator} because {why}")
    if not choices:
        assert smallest is not None, f"no engine offers anything for {layer.operator}"
        raise MissingL1(layer, smallest, l1_bytes)
    # Equal cycles: the engine named first.
    return min(choices, key=handicapped), (*offers, *entry.rivals)


def handicapped(tiling: Tiling) -> float:
    """Cycles by which forms are compared."""
    finer = _FINER_HANDICAP if tiling.finer else 1
    if tiling.form.engine == CLUSTER:
        return tiling.cycles * _CORES_HANDICAP * finer
    first = tiling.recipe(tiling.tiles[0])
    help_cycles = first.core_cycles * len(tiling.tiles) if first.engine_cycles else 0
    return tiling.cycles * finer + _HELP_HANDICAP * help_cycles
