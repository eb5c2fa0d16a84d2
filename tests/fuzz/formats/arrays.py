"""Arrays as numpy writes them: headers, members of the zip file, values, types and shapes."""

import io
import struct
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx

import tvm_pulp
from tests.codegen.small_networks import classifier
from tests.fuzz.draws import NAMES, REALS, Random, edit_bytes, one
from tests.fuzz.formats.format import Format, Trial

_SHAPE = (1, 4, 6, 6)
_DTYPES = (
    "int8",
    "uint8",
    "bool",
    "float16",
    "float32",
    "float64",
    "complex64",
    "int64",
    "uint64",
    "U5",
    "S3",
    "M8[s]",
    ">i4",
)
_HEADERS = (
    b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
    b"{'descr': '|u1', 'fortran_order': True, 'shape': (1, 4, 6, 6), }",
    b"{'descr': '|u1', 'fortran_order': False, 'shape': (99999999999, 4), }",
    b"{'descr': '|u1', 'fortran_order': False, 'shape': (-1, 4, 6, 6), }",
    b"{'descr': '|V0', 'fortran_order': False, 'shape': (1, 4, 6, 6), }",
    b"{'descr': [('a', '|u1')], 'fortran_order': False, 'shape': (144,), }",
    b"{'descr': '<f4'}",
    b"[" * 900,
    b"9" * 5000,
)


def seeds(folder: Path) -> Sequence[Path]:
    """Inputs of a small network, whose archive lies beside them."""
    onnx.save(classifier(), folder / "network.onnx")
    tvm_pulp.compile(folder / "network.onnx", target="c", input_types={"image": "uint8"}).save(folder / "network.tar")
    image = np.random.default_rng(1).integers(0, 255, _SHAPE).astype(np.uint8)
    np.savez(folder / "named.npz", image=image)
    np.savez_compressed(folder / "positions.npz", image, image[:, :1])
    np.save(folder / "single.npy", image)
    return [folder / name for name in ("named.npz", "positions.npz", "single.npy")]


def edit(rng: Random, content: bytes) -> bytes:
    """Change an array, its header, a member's name, or bytes anywhere."""
    if rng.random() < 0.2:
        return edit_bytes(rng, content)
    if content[:2] != b"PK":
        return _edit_array(rng, content)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = [(name, archive.read(name)) for name in archive.namelist()]
    place, choice = int(rng.integers(len(members))), rng.random()
    name, text = members[place]
    if choice < 0.6:
        members[place] = name, _edit_array(rng, text)
    elif choice < 0.8:
        members[place] = one(rng, [*NAMES, "arr_7.npy", "input_0.npy", "../x.npy", "image.pkl", "metadata.json"]), text
    elif choice < 0.9:
        members.append(members[place])
    else:
        del members[place]
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", one(rng, [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA])) as archive:
        for name, text in members:
            archive.writestr(zipfile.ZipInfo(name or "_"), text)
    return out.getvalue()


def _edit_array(rng: Random, content: bytes) -> bytes:
    choice = rng.random()
    if choice < 0.3:
        return edit_bytes(rng, content)
    if choice < 0.5:
        header = one(rng, _HEADERS)
        return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + content[-144:]
    values = np.asarray(np.load(io.BytesIO(content), allow_pickle=False))
    if choice < 0.7:
        values = values.astype(one(rng, _DTYPES))
    elif choice < 0.85:
        values = one(rng, [values[..., :0], values.reshape(-1), values[None], values[0], np.concatenate([values] * 3)])
    else:
        values = values.astype(np.float32)
        values.flat[int(rng.integers(values.size))] = one(rng, REALS)
    out = io.BytesIO()
    np.save(out, values)
    return out.getvalue()


def command(rng: Random, trial: Trial) -> list[str]:
    """Inputs of a run, inputs and labels of a data set, or a sample that tells types of inputs."""
    network, given = str(trial.seed.parent / "network.tar"), str(trial.mutant)
    return one(
        rng,
        [
            ["run", network, "-i", given],
            ["run", network, "-i", given, "--by-position", "-o", str(trial.out / "outputs.npz")],
            ["run", network, "--dataset", given, "--labels", given],
            [
                "compile",
                str(trial.seed.parent / "network.onnx"),
                "--sample-inputs",
                given,
                "-o",
                str(trial.out / "a.tar"),
            ],
        ],
    )


# A data set is an array alone, inputs are an archive of them: each is valid for some of the commands.
FORMAT = Format("arrays", seeds, edit, command, valid=frozenset({0, 2}))
