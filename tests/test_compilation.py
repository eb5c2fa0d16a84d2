"""The pipeline as an object: each stage is computed when it is looked at, and once."""

from dataclasses import replace

import tvm_pulp
from tvm_pulp.compilation import Compilation
from tvm_pulp.compile_options import CompileOptions
from tvm_pulp.planning.cpu import CpuPlan

CLUSTER = CompileOptions(target="c", soc="siracusa", planner="greedy")
MODEL = "zoo:autoencoder"


def known(compilation: Compilation) -> set[str]:
    """Stages that were computed."""
    stages = {"imported", "canonical", "stateful", "entry", "files"}
    return stages & vars(compilation).keys()


def test_a_stage_is_computed_when_it_is_looked_at() -> None:
    told: list[str] = []
    compilation = Compilation(MODEL, CLUSTER, told.append)
    assert known(compilation) == set()
    assert compilation.imported.inputs and known(compilation) == {"imported"}
    assert compilation.canonical is compilation.canonical and known(compilation) == {"imported", "canonical"}
    assert len(compilation.network.layers) == 10 and told == ["canonicalizing", "lowering"]
    assert compilation.plan is compilation.lowered.plan and told[-1] == "planning 10 layers"
    assert "files" not in known(compilation)
    assert compilation.files is compilation.files and told.count("emitting C") == 1
    assert compilation.plans == {"": compilation.lowered}


def test_an_archive_knows_its_stages() -> None:
    app = tvm_pulp.compile(MODEL)
    assert app.compilation is not None and app.compilation.files is app.files
    assert [layer.name for layer in app.compilation.network.layers] == [
        layer["name"] for layer in app.metadata["tvm_pulp"]["layers"]
    ]


def test_this_machine_is_planned_for_like_any_other() -> None:
    compilation = tvm_pulp.Compilation(MODEL)
    assert compilation.entry.partitioned.layers and compilation.entry.expected_cycles == {}
    plan = compilation.plan
    assert isinstance(plan, CpuPlan) and plan is compilation.lowered.plan
    assert plan.whole is compilation.entry.partitioned and set(plan.decisions.forms.values()) == {"generated loops"}
    assert compilation.plans == {"": compilation.lowered}


def test_a_varied_compilation_keeps_what_does_not_differ() -> None:
    compilation = Compilation(MODEL, CLUSTER)
    one_core = compilation.varied(options=replace(CLUSTER, cores=1))
    assert one_core.imported is compilation.imported and one_core.canonical is compilation.canonical
    assert one_core.plan.cores == 1 and compilation.plan.cores == 8
    rewritten: list[object] = []

    def rewrite(module: object) -> object:
        rewritten.append(module)
        return module

    assert compilation.varied(rewrite=rewrite).canonical is compilation.canonical
    assert rewritten == [compilation.canonical]
