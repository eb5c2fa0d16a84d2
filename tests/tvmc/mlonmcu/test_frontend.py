"""Models are found by path, by folder and by the zoo's names."""

import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tvm_pulp.errors import UserError


def context(*folders: Path) -> Any:
    paths = {"models": [SimpleNamespace(path=folder) for folder in folders]}
    return SimpleNamespace(environment=SimpleNamespace(paths=paths))


def found(name: str | Path, *folders: Path) -> Any:
    from tvm_pulp.tvmc.mlonmcu.frontend import TvmPulpFrontend

    (model,) = TvmPulpFrontend().lookup_models([str(name)], config={}, context=context(*folders))
    return model


def test_a_nameless_file_is_called_as_its_folder(mlonmcu: None, tmp_path: Path) -> None:
    for folder, file in (("kws", "model.tflite"), ("vww", "model.tflite"), ("other", "my.net.onnx")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / file).write_bytes(b"")
    assert found(tmp_path / "kws" / "model.tflite").name == "kws"
    assert found("vww", tmp_path).paths == [tmp_path / "vww" / "model.tflite"]
    # A dot would end the name for MLonMCU.
    assert found(tmp_path / "other" / "my.net.onnx").name == "my_net"


def test_an_ambiguous_folder_is_refused(mlonmcu: None, tmp_path: Path) -> None:
    (tmp_path / "two").mkdir()
    for file in ("a.onnx", "b.onnx"):
        (tmp_path / "two" / file).write_bytes(b"")
    with pytest.raises(UserError, match="holds several files"):
        found("two", tmp_path)
    (tmp_path / "two" / "two.onnx").write_bytes(b"")
    assert found("two", tmp_path).paths == [tmp_path / "two" / "two.onnx"]


def test_networks_of_the_zoo_have_names(mlonmcu: None) -> None:
    from tvm_pulp.frontend import zoo
    from tvm_pulp.tvmc.mlonmcu.frontend import TvmPulpFrontend

    model = found("autoencoder")
    assert model.name == "autoencoder" and found("zoo:autoencoder").paths == model.paths
    assert Path(model.paths[0]).read_bytes() == zoo.build("autoencoder").SerializeToString()
    (inputs,) = TvmPulpFrontend().process_metadata(model, cfg={})
    with np.load(io.BytesIO(inputs.raw)) as arrays:
        assert np.array_equal(arrays[arrays.files[0]], zoo.sample_inputs("autoencoder")[0])


def test_an_unknown_name_is_refused(mlonmcu: None) -> None:
    with pytest.raises(UserError, match="'resnet9' is neither a file, nor in the environment's folders, nor in the"):
        found("resnet9")
    with pytest.raises(UserError, match="did you mean resnet8"):
        found("zoo:resnet9")
