"""MLonMCU's command line with our backends: a small sweep, figures, and failures that show."""

import pytest

from tests.tvmc.mlonmcu.page import arguments
from tests.tvmc.mlonmcu.small_model import write_golden
from tests.tvmc.mlonmcu.wrapper import Environment, number

METRICS = ("Total Cycles", "Total Instructions", "Total CPI", "Total ROM", "Total RAM", "Runtime [s]", "MIPS")


@pytest.mark.slow
def test_a_small_sweep_of_zoo_models(environment: Environment) -> None:
    """The first command of the page: two models by name, two backends, in parallel, from nothing."""
    done = environment.run(*arguments("small"))
    assert done.returncode == 0, done.stderr
    rows = environment.report("small")
    assert [(row["Model"], row["Backend"]) for row in rows] == [
        (model, backend) for model in ("vit_block", "dscnn") for backend in ("tvmpulp_c", "tvmpulp_neureka")
    ]
    for row in rows:
        assert row["Target"] == "tvmpulp_siracusa" and row["config_tvmpulp.l1"] == "96k" and "Failing" not in row
        assert (row["Validation"], row["Validation Reference"]) == ("True", "numpy")
        assert all(float(row[metric]) > 0 for metric in METRICS)
        assert float(row["Runtime [s]"]) == pytest.approx(number(row, "Total Cycles") / 360e6)
        assert number(row, "Total ROM") == sum(number(row, f"ROM {part}") for part in ("read-only", "code", "misc"))
    for cores, engine in (rows[:2], rows[2:]):
        assert cores["Offloaded Layers"] == cores["Offloaded MACs"] == "0"
        assert 0 < number(engine, "Offloaded MACs") <= number(engine, "Total MACs") == number(cores, "Total MACs")
        assert float(engine["Total Cycles (rel.)"]) < 0.5 and float(cores["Total Cycles (rel.)"]) == 1
        # Eight cores and no more than one instruction each per cycle, per inference.
        assert number(cores, "Total Cycles") < number(cores, "Total Instructions") < 8 * number(cores, "Total Cycles")


@pytest.mark.slow
def test_a_cpu_without_cycles_has_instructions(environment: Environment) -> None:
    done = environment.run(
        *("flow", "run", "dscnn", "-b", "tvmpulp_c", "-t", "tvmpulp_cortex_m4", "-l", "cpu"),
        *("--postprocess", "tvmpulp_validate"),
    )
    assert done.returncode == 0, done.stderr
    (row,) = environment.report("cpu")
    assert row["Validation"] == "True" and number(row, "Total Instructions") < 1.5 * number(row, "Total MACs")
    assert number(row, "Total ROM") > 0 and "Total Cycles" not in row


WRONG = "WrongOutput @ POSTPROCESS: output 't3' differs in 1 of 2 values, by up to 1 (golden reference)"


# Without a step per stage MLonMCU itself forgets that a run failed when it has postprocesses.
def test_a_wrong_output_shows_as_failed(environment: Environment) -> None:
    write_golden(environment.home / "models" / "wrong", error=1)
    done = environment.run(
        *("flow", "run", "wrong", "-b", "tvmpulp_c", "-t", "tvmpulp_host", "-l", "wrong"),
        *("--postprocess", "tvmpulp_validate", "-c", "runs_per_stage=0"),
    )
    assert done.returncode == 1
    (row,) = environment.report("wrong")
    assert (row["Model"], row["Failing"], row["Reason"]) == ("wrong", "True", WRONG)


@pytest.mark.slow
@pytest.mark.parametrize("per_stage", ["1", "0"])
def test_a_failed_run_shows_as_failed(environment: Environment, per_stage: str) -> None:
    """Right and wrong golden data beside a model, and a program that this machine, without an L1, cannot have."""
    write_golden(environment.home / "models" / "right")
    write_golden(environment.home / "models" / "wrong", error=1)
    done = environment.run(
        *("flow", "run", "right", "wrong", "-b", "tvmpulp_c", "-t", "tvmpulp_host", "-l", "failing", "--parallel", "2"),
        *("--config-gen", "_", "--config-gen", "tvmpulp.l1=64k", "--postprocess", "tvmpulp_validate"),
        *("-c", f"runs_per_stage={per_stage}"),
    )
    assert done.returncode == 1
    right, without_l1, wrong, _ = environment.report("failing")
    assert right["Failing"] == "" and float(right["Runtime [s]"]) > 0
    assert (right["Validation"], right["Validation Reference"]) == ("True", "golden")
    assert without_l1["Failing"] == "True" and without_l1["Validation"] == ""
    assert without_l1["Reason"].startswith("StageFailed @ BUILD: tvmc compile: --l1 has no effect on --soc host: ")
    assert (wrong["Model"], wrong["Failing"], wrong["Reason"]) == ("wrong", "True", WRONG)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (["-c", "tvmpulp_c.corse=1"], "configuration 'tvmpulp_c.corse': 'tvmpulp_c' has no 'corse': did you mean"),
        (["-t", "tvmpulp_nothing"], "Unable to find a suitable platform for the target 'tvmpulp_nothing'; see "),
    ],
)
def test_what_cannot_be_set_up_is_one_sentence(
    environment: Environment, capfd: pytest.CaptureFixture[str], wrong: list[str], sentence: str
) -> None:
    from tvm_pulp.tvmc.mlonmcu.command_line import main

    home = ["-H", str(environment.home)]
    assert main(["flow", "run", "vit_block", "-b", "tvmpulp_c", "-t", "tvmpulp_host", *wrong, *home]) == 2
    said = capfd.readouterr().err
    assert sentence in said and "Traceback" not in said
