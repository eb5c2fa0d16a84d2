"""Language models on CPUs by themselves: logits are those of the independent implementation, in every run."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import tvm_pulp
from tests.language_models.llama_in_numpy import Llama as InNumpy
from tests.language_models.small_decoders import CAPACITY, CHUNK, weights
from tests.schedules.cpu.test_layers_on_cores import EMULATED, skip_without
from tvm_pulp.api import App, CompileOptions
from tvm_pulp.entry_point import silent
from tvm_pulp.errors import UserError
from tvm_pulp.frontend.zoo import decoders
from tvm_pulp.language_models.cpu_programs import cpu_language_model_files, plan_cpu_language_model
from tvm_pulp.language_models.llama import Llama
from tvm_pulp.language_models.request import LanguageModelRequest
from tvm_pulp.language_models.session import GenerationRequest, Sampling
from tvm_pulp.target import resolve_target
from tvm_pulp.toolchain.project.project_files import project_files
from tvm_pulp.toolchain.project.unpack import unpack
from tvm_pulp.tvmc.main import main


def compiled(name: str, soc: str) -> App:
    request = LanguageModelRequest("small", Llama(weights(name), CAPACITY, CHUNK))
    target = resolve_target(CompileOptions(soc=soc))
    files = cpu_language_model_files(request, target, plan_cpu_language_model(request, target, silent))
    return App(files | project_files(files))


@pytest.mark.parametrize(
    "soc", ["host", "cortex-m4", *(pytest.param(soc, marks=pytest.mark.slow) for soc in ("native", *EMULATED))]
)
def test_prompts_and_tokens_give_the_logits_of_numpy(soc: str) -> None:
    if soc in EMULATED:
        skip_without(soc)
    text = np.random.default_rng(5).integers(0, weights("shared_heads").shape.vocabulary, CAPACITY).tolist()
    model = InNumpy(weights("shared_heads"))
    expected = np.array([model.see(token) for token in text])
    generator = compiled("shared_heads", soc).generator()
    for prompt in (1, CAPACITY - 3):
        rest = text[prompt:]
        made = generator.generate(GenerationRequest(text[:prompt], len(rest) + 1, forced=rest, keep_logits=True))
        np.testing.assert_array_equal(made.logits, expected, err_msg=f"prompt of {prompt}")
        assert made.tokens == expected[prompt - 1 :].argmax(1).tolist()
        assert made.prefill_cycles >= 0 and len(made.step_cycles) == len(rest) + 1
    if soc != "host":
        assert generator.unit == "microseconds" if generator._device_name == "host" else min(made.step_cycles) > 0


def test_a_seed_draws_the_same_tokens_on_every_core() -> None:
    request = GenerationRequest([3, 1, 2], 12, Sampling(temperature=4.0, seed=3))
    here, there = (compiled("shared_heads", soc).generator() for soc in ("host", "cortex-m4"))
    assert here.generate(request).tokens == there.generate(request).tokens == here.generate(request).tokens


def test_another_network_generates_nothing() -> None:
    with pytest.raises(UserError, match="the archive holds no language model"):
        next(tvm_pulp.compile("zoo:autoencoder").generate([1], 1))


def test_the_archive_is_a_project(tmp_path: Path) -> None:
    if shutil.which("cmake") is None:
        pytest.skip("cmake is not installed")
    app = compiled("odd", "host")
    unpack(app.files, tmp_path)
    for command in (["cmake", "-B", "build"], ["cmake", "--build", "build"]):
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    program = next(path for path in (tmp_path / "build").iterdir() if path.is_file() and path.stat().st_mode & 0o100)
    printed = subprocess.run([program, "3", "1"], capture_output=True, text=True, check=True).stdout
    assert [int(line) for line in printed.split()] == app.generator().generate(GenerationRequest([3, 1], 16)).tokens


def test_a_model_that_does_not_fit_is_refused_and_generate_counts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    board = tmp_path / "board.yaml"
    board.write_text("based_on: cortex-m4\nname: board\ncpu: {flash: {size: 4096}}\n")
    with pytest.raises(UserError, match=r"SoC board has 4096 bytes of flash and the network's constants need \d+"):
        compiled("odd", str(board))
    path = tmp_path / "small.tar"
    compiled("odd", "cortex-m4").save(path)
    assert main(["generate", str(path), "--prompt-ids", "3,1", "--tokens", "3"]) == 0
    shown = capsys.readouterr().out
    assert "instructions" in shown and "cycles" not in shown


@pytest.mark.slow
@pytest.mark.parametrize("soc", ["native", "cortex-m55"])
def test_the_story_model_tells_its_story(soc: str) -> None:
    if soc in EMULATED:
        skip_without(soc)
    app = tvm_pulp.compile(f"zoo:{decoders.STORIES}", soc=soc)
    prompt = app.tokenizer().encode("Once there was a shy")
    model = InNumpy(decoders.build_decoder(decoders.STORIES))
    logits = [model.see(token) for token in prompt][-1]
    for token in app.generate(prompt, 10):
        assert token == int(logits.argmax())
        logits = model.see(token)
