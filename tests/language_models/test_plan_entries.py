"""Entry points are planned for what fits the chip."""

import pytest

from tests.language_models.small_decoders import CAPACITY, CHUNK, weights
from tvm_pulp.api import CompileOptions
from tvm_pulp.compilation import Compilation
from tvm_pulp.entry_point import silent
from tvm_pulp.errors import UserError
from tvm_pulp.language_models import plan_entries
from tvm_pulp.language_models.llama import Llama
from tvm_pulp.language_models.request import LanguageModelRequest
from tvm_pulp.planning.tiling.forms.split_form import SplitForm
from tvm_pulp.planning.tiling.plan import Plan
from tvm_pulp.planning.tir import LoweredPlan
from tvm_pulp.target import resolve_target


def splits(plan: Plan) -> list[str]:
    return [p.layer.name for p in plan.layers if isinstance(p.tiling.form, SplitForm)]


def test_without_room_for_the_cores_weights_the_accelerator_works_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    request = LanguageModelRequest("small", Llama(weights("wide"), CAPACITY, CHUNK))
    target = resolve_target(CompileOptions(target="uma-neureka", state_memory="l2"))
    seen: list[Plan] = []

    def no_room(plan: Plan, _soc: object) -> bool:
        seen.append(plan)
        return False

    monkeypatch.setattr(plan_entries, "spread_bundles", no_room)
    decode = plan_entries.plan_language_model(request, target, silent)["decode"].lowered.plan
    # Beside the large products of one token the cores would take columns.
    assert len(seen) == 1 and splits(seen[0])
    assert splits(decode) == []
    engines = [{p.layer.name: p.engine for p in plan.layers} for plan in (seen[0], decode)]
    assert {name for name, engine in engines[0].items() if engine == "neureka"} <= {
        name for name, engine in engines[1].items() if engine == "neureka"
    }


@pytest.mark.slow
def test_without_room_for_both_packings_programs_share_their_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    request = LanguageModelRequest("small", Llama(weights("wide"), CAPACITY, CHUNK))
    target = resolve_target(CompileOptions(target="uma-neureka", state_memory="l2"))
    spread, tried = plan_entries.spread_programs, []

    def full_at_first(programs: list[LoweredPlan], soc: object) -> list[LoweredPlan] | None:
        tried.append(programs)
        return None if len(tried) == 1 else spread(programs, soc)

    monkeypatch.setattr(plan_entries, "spread_programs", full_at_first)
    entries = plan_entries.plan_language_model(request, target, silent)
    assert len(tried) == 2
    for plan, expected in ((tried[0][0].plan, True), (entries["decode"].lowered.plan, False)):
        assert any("3x3 over parts" in p.tiling.form.name for p in plan.layers) is expected


@pytest.mark.slow
def test_weights_beyond_l2_without_an_engine_are_refused_in_a_sentence() -> None:
    compilation = Compilation("zoo:story_llama", CompileOptions(target="c", soc="siracusa"))
    with pytest.raises(UserError, match=r"exceed L2 and the weight memory: .* an engine that reads the weight memory"):
        _ = compilation.entries
