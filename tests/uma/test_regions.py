"""Regions of several operators, from patterns to simulated results: the scaffold's engine with its look-up unit.

The region wins where its cost says so and loses elsewhere; pins, recorded plans and passes on the partitioned module
decide too. Everything equals the same network compiled for this machine.
"""

import importlib
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from tvm import relax

import tvm_pulp
from tests.simulated.simulated_run import simulate
from tests.uma.dense_lookup_network import dense_lookup_network
from tvm_pulp import qnn
from tvm_pulp.api import App
from tvm_pulp.errors import UserError
from tvm_pulp.tvmc.main import main
from tvm_pulp.uma import registry
from tvm_pulp.uma.scaffold import create

ENGINE = "fuser"
# Rows and channels: few values, and many.
WINS, LOSES = (1, (64, 48, 32)), (64, (64, 48, 32))


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The package of a new engine, as good as installed while the tests run."""
    folder = tmp_path_factory.mktemp("package") / ENGINE
    create(ENGINE, folder)
    facts = folder / f"{ENGINE}_backend-0.1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {ENGINE}-backend\nVersion: 0.1.0\n")
    (facts / "entry_points.txt").write_text(f"[{registry.GROUP}]\n{ENGINE} = {ENGINE}_backend:FuserBackend\n")
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    yield
    sys.path.remove(str(folder))
    registry.backend.cache_clear()


@pytest.fixture
def backend(package: None) -> Any:
    """A fresh backend, which `--target=uma-fuser` finds."""
    registry.backend.cache_clear()
    return registry.backend(ENGINE)


class Case:
    """A network in a file with an input, and what it should answer."""

    def __init__(self, folder: Path, size: tuple[int, tuple[int, ...]]) -> None:
        model, self.inputs = dense_lookup_network(*size)
        self.path = folder / "network.onnx"
        onnx.save(model, self.path)

    def compile(self, **options: Any) -> App:
        return tvm_pulp.compile(self.path, target=f"uma-{ENGINE}", **options)

    def check(self, app: App) -> dict[str, Any]:
        """Simulate and compare with this machine's answer, in the first inference as in the second; the report."""
        run = simulate(app, self.inputs)
        (expected,) = tvm_pulp.compile(self.path).run(self.inputs).outputs.values()
        np.testing.assert_array_equal(run.outputs[0], expected)
        return run.report


def layers(app: App) -> list[tuple[str, str]]:
    return [(layer["op"], layer["engine"]) for layer in app.metadata["tvm_pulp"]["layers"]]


def names(app: App) -> list[str]:
    return [layer["name"] for layer in app.metadata["tvm_pulp"]["layers"]]


def test_the_region_wins_where_it_is_cheaper(backend: Any, tmp_path: Path) -> None:
    case = Case(tmp_path, WINS)
    app = case.compile()
    assert layers(app) == [("dense+lookup", ENGINE)] * 2
    fused = case.check(app)
    # The same network operator by operator: look-ups on the cores.
    apart = case.compile(pins=dict.fromkeys(names(app), "cluster"))
    assert [op for op, _ in layers(apart)] == ["dense", "lookup"] * 2
    assert fused["cycles"] < case.check(apart)["cycles"]


def test_the_region_loses_where_it_is_dearer(backend: Any, tmp_path: Path) -> None:
    case = Case(tmp_path, LOSES)
    app = case.compile()
    assert [op for op, _ in layers(app)] == ["dense", "lookup"] * 2
    apart = case.check(app)
    # Look-ups run on the engine only inside regions: pinned there, both are regions, and slower.
    lookups = [layer["name"] for layer in app.metadata["tvm_pulp"]["layers"] if layer["op"] == "lookup"]
    forced = case.compile(pins=dict.fromkeys(lookups, ENGINE))
    assert layers(forced) == [("dense+lookup", ENGINE)] * 2
    assert apart["cycles"] < case.check(forced)["cycles"]


def test_a_pin_inside_a_region_keeps_it_apart(backend: Any, tmp_path: Path) -> None:
    case = Case(tmp_path, WINS)
    first, *_ = names(case.compile(pins=dict.fromkeys(names(case.compile()), "cluster")))
    app = case.compile(pins={first: "cluster"})
    assert layers(app) == [("dense", "cluster"), ("lookup", "cluster"), ("dense+lookup", ENGINE)]
    case.check(app)


def test_the_greedy_planner_and_little_l1_know_regions_too(backend: Any, tmp_path: Path) -> None:
    case = Case(tmp_path, WINS)
    for options in ({"planner": "greedy"}, {"l1": 3000}, {"double_buffer": False}):
        app = case.compile(**options)
        assert ("dense+lookup", ENGINE) in layers(app), options
        case.check(app)


def test_the_archive_holds_the_partitioned_module(backend: Any, tmp_path: Path) -> None:
    app = Case(tmp_path, WINS).compile()
    text = app.files["src/partitioned.relax.txt"].decode()
    assert text.count(f'"Composite": "{ENGINE}.dense_lookup"') == 2 and text.count(f'"Codegen": "{ENGINE}"') == 2
    (body,) = re.findall(r"def main\(.*\n(?:.*\n)*", text)
    assert len(re.findall(rf"cls\.{ENGINE}_\w+\(", body)) == 2 and "qnn" not in body


def test_a_recorded_plan_gives_the_same_bytes(backend: Any, tmp_path: Path) -> None:
    for size in (WINS, LOSES):
        case = Case(tmp_path, size)
        app = case.compile()
        app.save(tmp_path / "first.tar")
        assert case.compile(plan=tmp_path / "first.tar").files == app.files


def test_a_recorded_plan_of_another_cover_is_a_user_error(backend: Any, tmp_path: Path) -> None:
    case = Case(tmp_path, WINS)
    app = case.compile()
    record = json.loads(app.files["plan.json"])
    record["layers"][0]["op"] = "dense+dense"
    (tmp_path / "plan.json").write_text(json.dumps(record))
    with pytest.raises(UserError, match=r"^--plan: 'dense with look-up' on fuser .* does not match this model"):
        case.compile(plan=tmp_path / "plan.json")


def test_explain_shows_both_ways(backend: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / "regions.onnx"
    assert (
        main(
            [
                "explain",
                "--suggestions=0",
                str(Case(tmp_path, WINS).path),
                f"--target=uma-{ENGINE}",
                "--onnx",
                str(picture),
            ]
        )
        == 0
    )
    text = capsys.readouterr().out
    inside = r"    a region of \w+ \(dense\), \w+ \(lookup\)\n"
    assert (
        len(re.findall(rf"^\w+: dense\+lookup .*\n{inside}    -> {ENGINE}, dense with look-up: about", text, re.M)) == 2
    )
    apart = (
        rf"not apart, dense on {ENGINE} and lookup on cluster: about [\d,]+ cycles alone(?:, but .*)?, [\d,]+ as one"
    )
    assert len(re.findall(apart, text)) == 2
    model = onnx.load(picture)
    onnx.checker.check_model(model, full_check=True)
    assert [(n.domain, n.op_type) for n in model.graph.node] == [(f"tvm_pulp.{ENGINE}", "dense+lookup")] * 2
    assert (
        main(
            [
                "explain",
                "--suggestions=0",
                str(Case(tmp_path, LOSES).path),
                f"--target=uma-{ENGINE}",
                "--onnx",
                str(picture),
            ]
        )
        == 0
    )
    text = capsys.readouterr().out
    assert len(re.findall(rf"not {ENGINE}, dense\+lookup as one: about [\d,]+ cycles alone", text)) == 2
    assert f"not {ENGINE}: it has no lookup" in text
    assert [n.op_type for n in onnx.load(picture).graph.node] == ["dense", "lookup"] * 2


def tables_of_zero(engine: str, seen: list[str]) -> Any:
    """A pass on partitioned modules: every table inside a region of the engine has nothing but zeros."""

    @relax.expr_functor.mutator
    class Zeros(relax.PyExprMutator):
        def visit_call_(self, call: Any) -> Any:
            call = super().visit_call_(call)
            if qnn.is_qnn(call, "lookup"):
                zeros = np.zeros_like(call.args[1].value.numpy())
                return qnn.emit("lookup", [call.args[0], relax.const(zeros, str(zeros.dtype))])
            return call

    def run(module: Any) -> Any:
        for place, function in list(module.functions.items()):
            if function.attrs is not None and "Codegen" in function.attrs and function.attrs["Codegen"] == engine:
                seen.append(str(function.attrs["Composite"]))
                module[place] = Zeros(module).visit_expr(function)
        return module

    return run


def test_post_partition_passes_change_what_is_compiled(backend: Any, tmp_path: Path) -> None:
    seen: list[str] = []
    backend._register_relax_pass("post_partition", tables_of_zero(ENGINE, seen))
    case = Case(tmp_path, WINS)
    app = case.compile()
    assert seen == [f"{ENGINE}.dense_lookup"] * 2 and layers(app) == [("dense+lookup", ENGINE)] * 2
    run = simulate(app, case.inputs)
    assert not run.outputs[0].any()
    # The plan that came of it can be taken again.
    app.save(tmp_path / "first.tar")
    assert case.compile(plan=tmp_path / "first.tar").files == app.files


def test_a_pass_may_take_a_region_from_an_engine(backend: Any, tmp_path: Path) -> None:
    """What stands in `main` by itself, without a function, is the cores'."""

    def undo(module: Any) -> Any:
        return relax.transform.InlinePrivateFunctions()(
            type(module)({place: function.without_attr("global_symbol") if place.name_hint != "main" else function
                          for place, function in module.functions.items()})
        )  # fmt: skip

    backend._register_relax_pass("post_partition", undo)
    case = Case(tmp_path, WINS)
    app = case.compile()
    assert layers(app) == [("dense", "cluster"), ("lookup", "cluster")] * 2
    case.check(app)


def test_a_pass_that_breaks_the_module_is_named(backend: Any, tmp_path: Path) -> None:
    def forget(module: Any) -> Any:
        return type(module)({place: f for place, f in module.functions.items() if place.name_hint == "main"})

    backend._register_relax_pass("post_partition", forget)
    with pytest.raises(RuntimeError, match=f"^post_partition of uma-{ENGINE} leaves a module that is not well formed"):
        Case(tmp_path, WINS).compile()


def stating(attribute: str, value: str) -> Any:
    """A pass that changes nothing but what functions of regions state."""

    def run(module: Any) -> Any:
        for place, function in list(module.functions.items()):
            if function.attrs is not None and "Codegen" in function.attrs:
                module[place] = function.with_attr(attribute, value)
        return module

    return run


@pytest.mark.parametrize(
    ("attribute", "value", "message"),
    [
        ("Codegen", "nobody", "on nobody, which does not take it: fuser.dense_lookup is no pattern of it"),
        ("Codegen", "cluster", "on cluster, which does not take it: fuser.dense_lookup is no pattern of it"),
        ("Composite", "fuser.other", "on fuser, which does not take it: fuser.other is no pattern of it"),
    ],
)
def test_a_region_that_its_engine_does_not_know_is_named(
    backend: Any, tmp_path: Path, attribute: str, value: str, message: str
) -> None:
    backend._register_relax_pass("post_partition", stating(attribute, value))
    with pytest.raises(RuntimeError, match=re.escape(message)):
        Case(tmp_path, WINS).compile()


def test_a_pass_may_name_another_engine(backend: Any, tmp_path: Path) -> None:
    case = Case(tmp_path, LOSES)
    assert ("dense", ENGINE) in layers(case.compile())
    backend._register_relax_pass("post_partition", stating("Codegen", "cluster"))
    app = case.compile()
    assert layers(app) == [("dense", "cluster"), ("lookup", "cluster")] * 2
    case.check(app)
