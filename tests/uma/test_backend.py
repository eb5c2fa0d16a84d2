"""`UMABackend`: options, phases, passes, patterns, discovery."""

import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

import tvm_pulp
from tvm_pulp import soc as socs
from tvm_pulp.api import Compilation, CompileOptions
from tvm_pulp.entry_point import ClusterEntryPoint
from tvm_pulp.errors import UserError
from tvm_pulp.explain.explain_plan import explain_plan
from tvm_pulp.target import Target, resolve_target
from tvm_pulp.uma import registry
from tvm_pulp.uma.backend import UMABackend
from uma_backends.neureka import NeurekaBackend


class Example(UMABackend):
    """A backend with options and nothing else."""

    def __init__(self) -> None:
        super().__init__()
        self._register_target_attr("lanes", 4, (2, 4, 8))
        self._register_target_attr("fast", False)

    @property
    def target_name(self) -> str:
        return "example"


def test_options_have_defaults_types_and_choices() -> None:
    assert Example().options({}) == {"lanes": 4, "fast": False}
    assert Example().options({"lanes": "8", "fast": "on"}) == {"lanes": 8, "fast": True}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"lanes": "3"}, "--target-uma-example-lanes '3' is not one of 2, 4, 8"),
        ({"lanes": "many"}, "--target-uma-example-lanes 'many' is not of type int"),
        ({"width": "1"}, "--target-uma-example-width is unknown: its options are lanes, fast"),
    ],
)
def test_bad_options_are_user_errors(given: dict[str, str], message: str) -> None:
    with pytest.raises(UserError, match=f"^{message}$"):
        Example().options(given)


def test_unknown_phases_are_refused() -> None:
    backend = Example()
    with pytest.raises(ValueError, match="phase 'later' is not one of pre_partition, post_partition"):
        backend._register_relax_pass("later", lambda m: m)
    with pytest.raises(ValueError, match="phase 'later' is not one of compute, pre_barriers, post_barriers"):
        backend._register_tir_pass("later", lambda f: f)


def test_registered_passes_run_in_their_phases(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[str, bool, bool]] = []

    def pass_of(phase: str) -> Any:
        def run(item: Any) -> Any:
            text = item.script()
            seen.append((phase, "neureka.dense" in text, "dma_wait" in text))
            return item

        return run

    backend = NeurekaBackend()
    for phase in ("pre_partition", "post_partition"):
        backend._register_relax_pass(phase, pass_of(phase))
    for phase in ("pre_barriers", "post_barriers"):
        backend._register_tir_pass(phase, pass_of(phase))
    monkeypatch.setattr("tvm_pulp.target.parse_targets", lambda _: [backend])
    tvm_pulp.compile("zoo:autoencoder", target="uma-neureka")
    assert seen == [
        ("pre_partition", False, False),
        ("post_partition", True, False),
        ("pre_barriers", False, False),
        ("post_barriers", False, True),
    ]


def test_the_documented_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """The code of the class documentation as it stands: options, pattern, check, strategy, partition, plan."""
    assert UMABackend.__doc__ is not None
    lines = UMABackend.__doc__.splitlines()
    code = textwrap.dedent("\n".join(line for line in lines if line.startswith("        ") or not line.strip()))
    names: dict[str, Any] = {}
    exec(code, names)
    backend = names["MyBackend"]()
    assert backend.options({"lanes": "8"}) == {"lanes": 8}
    compilation = Compilation("zoo:autoencoder")
    partitioned = backend.partition(compilation.canonical)
    composites = [f.attrs["Composite"] for gv, f in partitioned.functions.items() if gv.name_hint != "main"]
    assert composites == ["my.dense"] * 8
    soc = socs.load("siracusa")
    target = Target(soc, ((backend, backend.options({})),), soc.cluster.cores)
    entry = ClusterEntryPoint(target, "net", compilation.imported, compilation.canonical)
    explain_plan(entry.lowered.plan, sys.stdout)
    text = capsys.readouterr().out
    assert text.count("not my: the forms are still to be written") == 8
    assert text.count("not my: it has less than 5,000 MAC") == 2


def test_a_pattern_needs_a_strategy_and_a_strategy_a_pattern() -> None:
    one, other = Example(), Example()
    one._register_pattern("dense", None)
    other._register_operator_strategy("dense", lambda layer, context: [])
    with pytest.raises(ValueError, match=r"^Example: 'dense' has a pattern and no strategy: register both$"):
        _ = one.patterns
    with pytest.raises(ValueError, match=r"^Example: 'dense' has a strategy and no pattern: register both$"):
        _ = other.patterns


def test_a_registered_backend_is_a_target_tag() -> None:
    import tvm

    NeurekaBackend().register()
    assert tvm.target.Target("uma-neureka").kind.name == "ext_dev"


def test_unknown_engines_name_the_installed_ones() -> None:
    with pytest.raises(UserError, match=r"'uma-nothing' is unknown: choose from c, .*uma-neureka"):
        registry.parse_targets("uma-nothing")
    with pytest.raises(UserError, match=r"'uma-nureka' is unknown: did you mean 'uma-neureka'\?"):
        registry.parse_targets("uma-nureka")
    with pytest.raises(UserError, match=r"--target 'cuda' is unknown: choose from c, .*uma-neureka"):
        registry.parse_targets("cuda")


def test_targets_are_a_priority_list() -> None:
    (engine,) = registry.parse_targets("uma-neureka,c")
    assert engine.target_name == "neureka"
    assert registry.parse_targets("c") == []


def test_an_engine_needs_a_soc_that_carries_it(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="--soc host has no engine 'neureka'"):
        resolve_target(CompileOptions(target="uma-neureka", soc="host"))


def test_engines_without_a_common_soc(monkeypatch: pytest.MonkeyPatch) -> None:
    class Other(UMABackend):
        target_name = "other"
        default_soc = "host"

    monkeypatch.setattr("tvm_pulp.target.parse_targets", lambda _: [registry.backend("neureka"), Other()])
    message = r"no default SoC \(siracusa, host\) carries neureka and other together: describe one .* --soc"
    with pytest.raises(UserError, match=message):
        resolve_target(CompileOptions(target="uma-neureka,uma-other"))


@pytest.mark.parametrize("error", [ImportError("no module named x"), None])
def test_a_broken_package_is_a_user_error(monkeypatch: pytest.MonkeyPatch, error: Exception | None) -> None:
    class Entry:
        name = "broken"

        def load(self) -> Any:
            if error is not None:
                raise error
            return lambda: "not a backend"

    monkeypatch.setattr(registry, "entry_points", lambda group: [Entry()])
    reason = "cannot be loaded .*; reinstall it" if error else "is not a UMABackend called 'broken'"
    with pytest.raises(UserError, match=f"--target uma-broken: .* {reason}"):
        registry.backend.__wrapped__("broken")
