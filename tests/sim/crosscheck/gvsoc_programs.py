"""Programs whose cycles another simulator counted: files, what each is, and how one is run on ours.

The programs are those of the golden networks, compiled once, with inputs inside. Rows of large weights repeat, so that
all of them fit into one small file; neither shapes nor plans nor cycles care.
"""

import hashlib
import io
import lzma
import tarfile
from functools import cache
from pathlib import Path
from typing import Any

from tvm_pulp import soc
from tvm_pulp.codegen.formats import BaselineJson, from_json
from tvm_pulp.sim.image import parse_contents, words
from tvm_pulp.sim.iss import Machine

FOLDER = Path(__file__).parent
PROGRAMS = FOLDER / "gvsoc_programs.tar.xz"
BASELINE = FOLDER / "gvsoc_baseline.json"
INFERENCES = 6


@cache
def programs() -> dict[str, bytes]:
    """ELF files by their hash."""
    with tarfile.open(fileobj=io.BytesIO(lzma.decompress(PROGRAMS.read_bytes()))) as archive:
        files = [archive.extractfile(member) for member in archive.getmembers()]
        contents = [file.read() for file in files if file is not None]
    return {hashlib.sha256(content).hexdigest(): content for content in contents}


@cache
def recorded_runs() -> list[dict[str, Any]]:
    """Runs of the other simulator."""
    return list(from_json(BaselineJson, BASELINE.read_text(encoding="utf-8"))["runs"])


def outputs_hash(contents: dict[str, bytes]) -> str:
    """Of the outputs and nothing else: the byte that stands for an empty input holds what the memory held."""
    digest = hashlib.sha256()
    for name, data in contents.items():
        if name.startswith("tvmgen_default_outputs_"):
            digest.update(name.encode() + b"\0" + data)
    return digest.hexdigest()


def run_here(program: bytes, preset: str) -> tuple[list[int], str]:
    """Cycles of every inference and the hash of the outputs."""
    machine = Machine(soc.load(preset))
    machine.load_elf(program)
    contents = parse_contents(machine.run().stdout)
    return [int(cycles) for cycles in words(contents, "tvm_pulp_cycles")[:INFERENCES]], outputs_hash(contents)


def warm(cycles: list[int]) -> float:
    """Mean of all inferences but the first."""
    return sum(cycles[1:]) / len(cycles[1:])
