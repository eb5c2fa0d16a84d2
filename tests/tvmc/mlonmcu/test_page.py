"""docs/mlonmcu.md names what exists, and its commands work."""

import re

import pytest

from tests.tvmc.mlonmcu.page import PAGE, arguments, commands
from tests.tvmc.mlonmcu.wrapper import Environment, number
from tvm_pulp.tvmc.mlonmcu import names, options

TEXT = PAGE.read_text(encoding="utf-8")


def test_components_of_the_page_exist(mlonmcu: None) -> None:
    from tvm_pulp.tvmc.mlonmcu.backend import TvmPulpBackend

    stated = set(re.findall(r"\btvmpulp(?:_\w+)?\b", TEXT)) - {"tvmpulp_"}
    assert sorted(stated - TvmPulpBackend.known_keys.keys()) == []
    for component, key in re.findall(r"\b(tvmpulp(?:_\w+)?)\.(\w+)", TEXT):
        assert key in TvmPulpBackend.known_keys[component], f"{component}.{key}"


def test_every_key_and_feature_is_on_the_page(mlonmcu: None) -> None:
    from tvm_pulp.tvmc.mlonmcu.features import all_features
    from tvm_pulp.tvmc.mlonmcu.frontend import TvmPulpFrontend
    from tvm_pulp.tvmc.mlonmcu.platform import TvmPulpPlatform
    from tvm_pulp.tvmc.mlonmcu.target import TvmPulpTarget

    components = (TvmPulpFrontend, TvmPulpPlatform, TvmPulpTarget)
    keys = {*options.common_defaults(), *(key for component in components for key in component.DEFAULTS)}
    wanted = {*keys, *all_features(), names.VALIDATE, names.COMPARE, names.CORES_ONLY, names.EVERY_ENGINE}
    assert sorted(wanted - set(re.findall(r"\w+", TEXT))) == []


def test_metrics_of_the_page(mlonmcu: None) -> None:
    from tvm_pulp.tvmc.mlonmcu import backend, measure, platform

    sources = "".join(str(module.__loader__.get_source(module.__name__)) for module in (backend, measure, platform))  # type: ignore[union-attr]
    metrics = set(re.findall(r'(?:metrics\.add\(|found\[|^ +)"([A-Z][^"]+)"', sources, re.M))
    assert len(metrics) > 15
    assert [name for name in sorted(metrics) if f"`{name}`" not in TEXT] == []


@pytest.mark.slow
def test_the_sweep_of_the_page(environment: Environment) -> None:
    """4 models × 3 backends × 2 sizes of L1: one file of 24 lines, all of them right."""
    done = environment.run(*arguments("sweep"))
    assert done.returncode == 0, done.stderr
    rows = environment.report("sweep")
    assert len(rows) == len({(r["Model"], r["Backend"], r["config_tvmpulp.l1"]) for r in rows}) == 24
    assert {row["Validation"] for row in rows} == {"True"} and "Failing" not in rows[0]
    cycles = {(r["Model"], r["Backend"], r["config_tvmpulp.l1"]): number(r, "Total Cycles") for r in rows}
    for model, backend, l1 in cycles:
        # The SoC has one accelerator: all of its accelerators are that one.
        assert cycles[model, "tvmpulp_auto", l1] == cycles[model, "tvmpulp_neureka", l1]
        assert cycles[model, backend, "128k"] <= 1.02 * cycles[model, backend, "64k"]


@pytest.mark.slow
@pytest.mark.parametrize("label", ["cores", "weights", "chips", "engines"])
def test_other_commands_of_the_page(environment: Environment, label: str) -> None:
    done = environment.run(*arguments(label))
    assert done.returncode == 0, done.stderr
    rows = environment.report(label)
    assert rows and "Failing" not in rows[0]
    if label == "cores":
        eight, one = rows
        assert number(one, "Total Cycles") > 5 * number(eight, "Total Cycles")
    if label == "engines":
        taken = {row["Target"]: number(row, "Offloaded MACs") for row in rows}
        assert taken["tvmpulp_mcu"] == 0 and min(taken["tvmpulp_mcu_neureka"], taken["tvmpulp_mcu_ita"]) > 0
        assert {row["Validation"] for row in rows} == {"True"}


def test_every_command_of_the_page_is_run_by_a_test() -> None:
    known = {"small", "sweep", "cores", "weights", "chips", "engines", "plain"}
    labels = {words[words.index("-l") + 1] for words in commands() if "-l" in words}
    assert labels == known
    assert [words for words in commands() if "-l" not in words] == [["tvmpulp-mlonmcu", "flow", "--list-targets"]]
