"""YAML: descriptions of machines and studies."""

import os
from collections.abc import Sequence
from pathlib import Path

import onnx
import yaml

from tests.dse.small_models import dense_model
from tests.fuzz.draws import Random, edit_bytes, one
from tests.fuzz.formats.format import Format, Trial
from tests.fuzz.records import edit_record

_TEXTS = (
    b"a: &a [x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\n",
    b"name: !!python/object/apply:os.getcwd []\n",
    b"name: !!binary aGVsbG8=\n",
    b"cores: " + b"9" * 5000 + b"\n",
    b"cores: .inf\nl1: .nan\n",
    b"cores: 190:20:30\nname: 2001-12-14t21:59:43.10-05:00\n",
    b"name: &a {x: *a}\n",
    b"? [1, 2]\n: 3\n",
    b"<<: {name: x}\n",
    b'name: "\\ud800"\n',
    b"[" * 400 + b"]" * 400,
    b"--- a\n--- b\n",
)
# In C, where the library was built with it: ten times as fast.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_PRESETS = ("siracusa", "snitch-ita", "rv32-mcu", "cortex-m4", "mempool")


def edit(rng: Random, content: bytes) -> bytes:
    """Change an entry; add what YAML has and nobody expects; change bytes."""
    choice = rng.random()
    if choice < 0.1:
        return edit_bytes(rng, content)
    if choice < 0.2:
        return content + one(rng, _TEXTS)
    record = yaml.load(content, _LOADER)
    edit_record(rng, record)
    return yaml.dump(record, Dumper=_DUMPER, sort_keys=False).encode("utf-8", "surrogatepass")


def soc_seeds(folder: Path) -> Sequence[Path]:
    """Presets as they ship, one that changes another, and a model for them."""
    onnx.save(dense_model(32), folder / "dense32.onnx")
    presets = Path(__file__).resolve().parents[3] / "tvm_pulp" / "soc"
    found = []
    for name in _PRESETS:
        found.append(folder / f"my-{name}.yaml")
        record = yaml.safe_load((presets / f"{name}.yaml").read_text(encoding="utf-8"))
        found[-1].write_text(yaml.safe_dump({**record, "name": f"my-{name}"}, sort_keys=False), encoding="utf-8")
    found.append(folder / "smaller.yaml")
    found[-1].write_text("name: smaller\nbased_on: siracusa\ncores: 4\nl1: {size: 131072}\n", encoding="utf-8")
    return found


def soc_command(rng: Random, trial: Trial) -> list[str]:
    """Compile a small model for the machine."""
    target = one(rng, ["c", "c", "uma-neureka"]) if trial.seed.stem in ("my-siracusa", "smaller") else "c"
    model = [str(trial.seed.parent / "dense32.onnx"), "--input-types", "x:int8"]
    return ["compile", *model, "--target", target, "--soc", str(trial.mutant), "-q", "-o", str(trial.out / "model.tar")]


def study_seeds(folder: Path) -> Sequence[Path]:
    """A study of one model on three machines."""
    onnx.save(dense_model(32), folder / "dense32.onnx")
    record = {
        "models": [{"path": str(folder / "dense32.onnx"), "options": {"input_types": {"x": "int8"}}}],
        "socs": ["siracusa", {"base": "siracusa", "cores": [4], "l1": ["128k", 131072]}],
        "targets": ["c"],
        "compile_options": {"double_buffer": False},
    }
    (folder / "study.yaml").write_text(yaml.safe_dump(record), encoding="utf-8")
    return [folder / "study.yaml"]


def study_command(rng: Random, trial: Trial) -> list[str]:
    """Estimate what the study asks for."""
    table = ["-o", str(trial.out / "table.csv"), "--cache", str(trial.seed.parent / f"rows-{os.getpid()}")]
    return ["sweep", str(trial.mutant), "--no-simulate", *table]


SOC = Format("soc", soc_seeds, edit, soc_command)
STUDY = Format("study", study_seeds, edit, study_command, needs=("pandas",))
