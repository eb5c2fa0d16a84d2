"""`tvmc generate`: what it prints, and errors of one sentence with exit status 2."""

import re
from pathlib import Path

import numpy as np
import pytest

from tests.language_models.exported_decoders import Reference, exported
from tests.language_models.small_decoders import compiled
from tvm_pulp.tvmc.main import main


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("generate") / "small.tar"
    compiled("shared_heads", "uma-neureka").save(path)
    return path


def test_tokens_and_figures(archive: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outputs = tmp_path / "steps.npz"
    asked = ["generate", str(archive), "--prompt-ids", "3,1,2", "--tokens", "4", "--force-ids", "5,6"]
    assert main([*asked, "--outputs", str(outputs)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("5,6,") and len(lines[0].split(",")) == 4
    assert lines[1].startswith("prefill: 3 tokens") and "tokens/s at 360 MHz" in lines[1]
    assert lines[2].startswith("decode:  3 tokens") and re.search(r"[0-9.]+ µJ ± [0-9]+ % a token", lines[2])
    with np.load(outputs) as made:
        # A row of logits for every token, and the likeliest of each row.
        assert made["logits"].shape == (4, 24)
        assert made["tokens"].tolist() == made["logits"].argmax(1).tolist()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "give either --prompt or --prompt-ids"),
        (["--prompt", "a", "--prompt-ids", "1"], "give either --prompt or --prompt-ids"),
        (["--prompt", "a"], "the archive holds no tokenizer"),
        (["--prompt-ids", "1,x"], "--prompt-ids '1,x' is not a list of numbers"),
        (["--prompt-ids", "1", "--top-k", "3"], "--top-k has no effect without --temperature"),
        (["--prompt-ids", ",".join(["1"] * 30)], "the prompt has 30 tokens and the cache holds 21"),
        (["--prompt-ids", "99"], "token 99 is not in the vocabulary of 24"),
    ],
)
def test_errors(archive: Path, options: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["generate", str(archive), *options]) == 2
    told = capsys.readouterr().err
    assert message in told and told.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["zoo:autoencoder", "--tokenizer", "x.json"], "--tokenizer has no effect on 'zoo:autoencoder'"),
        (["zoo:llama_0.5m", "--tokenizer", "x.json"], "--tokenizer has no effect on a language model of the zoo"),
        (["zoo:autoencoder", "--capacity", "8"], "--capacity has no effect on 'zoo:autoencoder'"),
        (["zoo:llama_0.5m", "--capacity", "0"], "--capacity 0: at least one token is needed"),
        (["zoo:llama_0.5m", "--input-types", "x:int8"], "--input-types has no effect on a language model"),
        (["zoo:story_lama"], "did you mean story_llama"),
    ],
)
def test_errors_of_compile(
    tmp_path: Path, options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compile", *options, "--target=uma-neureka", "-q", "-o", str(tmp_path / "x.tar")]) == 2
    assert message in capsys.readouterr().err


@pytest.fixture(scope="module")
def decoder_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("exported") / "decoder.onnx"
    path.write_bytes(exported("llama", "static"))
    return path


def test_an_exported_decoder_is_compiled_and_generates(
    decoder_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tar, outputs = tmp_path / "decoder.tar", tmp_path / "steps.npz"
    asked = ["compile", str(decoder_file), "--target=c", "--soc=siracusa", "--capacity", "12", "--planner", "greedy"]
    assert main([*asked, "-q", "-o", str(tar)]) == 0
    capsys.readouterr()
    forced = ["--force-ids", "7,8,9", "--outputs", str(outputs)]
    assert main(["generate", str(tar), "--prompt-ids", "3,1,2,5", "--tokens", "5", *forced]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("7,8,9,") and len(lines[0].split(",")) == 5
    reference = Reference(exported("llama", "static"))
    seen = reference.see([3, 1, 2, 5])[-1:]
    with np.load(outputs) as made:
        tokens = made["tokens"].tolist()
        expected = np.concatenate([seen, *(reference.see([t]) for t in (7, 8, 9, tokens[3]))])
        np.testing.assert_array_equal(made["logits"], expected)
        assert tokens == expected.argmax(1).tolist()
    # Sampling needs logits in steps, whatever they are.
    drawn = ["--tokens", "6", "--temperature", "5", "--seed", "2"]
    assert main(["generate", str(tar), "--prompt-ids", "3", *drawn]) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert main(["generate", str(tar), "--prompt-ids", "3", *drawn]) == 0
    assert capsys.readouterr().out.splitlines()[0] == first


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "cache 'past_key_values.0.key' has a symbolic length: state --capacity N"),
        (["--capacity", "1"], "--capacity 1: an exported decoder needs room for two tokens"),
        (["--capacity", "0"], "--capacity 0: at least one token is needed"),
        (["--capacity", "8", "--state"], "--state has no effect on a decoder whose cache is state"),
        (["--capacity", "8", "--tokenizer", "nowhere.json"], "--tokenizer: 'nowhere.json' cannot be read"),
        (["--capacity", "8", "--tokenizer", __file__], "not a file of the tokenizers library"),
    ],
)
def test_errors_of_an_exported_decoder(
    decoder_file: Path, tmp_path: Path, options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    soc = [] if "--soc" in options else ["--soc=siracusa"]
    assert main(["compile", str(decoder_file), "--target=c", *soc, "-q", "-o", str(tmp_path / "x.tar"), *options]) == 2
    told = capsys.readouterr().err
    assert message in told and told.count("\n") == 1


def test_a_language_model_is_not_run(archive: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(archive)]) == 2
    assert "use `tvmc generate`" in capsys.readouterr().err
