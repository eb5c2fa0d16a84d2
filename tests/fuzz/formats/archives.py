"""Archives: bytes and members of the tar file, metadata and plans."""

import io
import tarfile
from collections.abc import Sequence
from pathlib import Path

import onnx

import tvm_pulp
from tests.codegen.small_networks import classifier
from tests.fuzz.draws import Random, edit_bytes, one
from tests.fuzz.formats.format import Format, Trial
from tests.fuzz.records import edit_json
from tvm_pulp.codegen import mlf

_NAMES = ("", ".", "..", "./", "a" * 300, "plan.json/below", "metadata.json", "codegen", "\ud800", "dev/\x00", "/abs")
_KINDS = (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.DIRTYPE, tarfile.GNUTYPE_SPARSE)


def seeds(folder: Path) -> Sequence[Path]:
    """A network of a cluster, and the same for this machine."""
    onnx.save(classifier(), folder / "classifier.onnx")
    found = []
    for soc in ("siracusa", "host"):
        app = tvm_pulp.compile(folder / "classifier.onnx", target="c", soc=soc, input_types={"image": "uint8"})
        found.append(folder / f"{soc}.tar")
        app.save(found[-1])
    return found


def edit(rng: Random, content: bytes) -> bytes:
    """Change bytes anywhere, an entry of its records, or a member."""
    kind = int(rng.integers(8))
    if kind == 0:
        return edit_bytes(rng, content)
    with tarfile.open(fileobj=io.BytesIO(content)) as tar:
        members = [(m, f.read() if (f := tar.extractfile(m)) else b"") for m in tar.getmembers() if m.isfile()]
    if kind < 6:
        for place, (member, text) in enumerate(members):
            if member.name.endswith("plan.json" if kind == 1 else "metadata.json"):
                members[place] = member, edit_json(rng, text)
    else:
        _edit_members(rng, members)
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT, errors="surrogatepass") as tar:
        for member, text in members:
            member.size = len(text) if member.isfile() else 0
            tar.addfile(member, io.BytesIO(text))
    return out.getvalue()


def _edit_members(rng: Random, members: list[tuple[tarfile.TarInfo, bytes]]) -> None:
    place = int(rng.integers(len(members)))
    member, text = members[place]
    choice = rng.random()
    if choice < 0.3:
        del members[place]
    elif choice < 0.5:
        member.name = one(rng, _NAMES)
    elif choice < 0.65:
        extra = tarfile.TarInfo(one(rng, _NAMES))
        members.append((extra, rng.bytes(20)))
    elif choice < 0.75:
        member.type, member.linkname = one(rng, _KINDS), one(rng, ["/dev/zero", "metadata.json", "../..", ""])
    elif choice < 0.85:
        members.append((member, text))
    else:
        members[place] = member, edit_bytes(rng, text)


def command(rng: Random, trial: Trial) -> list[str]:
    """Run or build it. This machine runs the compiler's own C only."""
    run = ["run", str(trial.mutant), "--max-cycles", "1000000"]
    if trial.seed.stem == "host":
        return run[:2] if _same_sources(trial) else ["build", str(trial.mutant), "-o", str(trial.out / "program.elf")]
    return one(rng, [run, run, run, ["build", str(trial.mutant), "-o", str(trial.out / "program.elf")]])


def _same_sources(trial: Trial) -> bool:
    try:
        files = mlf.read(trial.mutant)
    except Exception:  # what the reader makes of it is the command's matter
        return True
    valid = mlf.read(trial.seed)
    return all(files.get(name) == text for name, text in valid.items() if not name.endswith(".json"))


# A program that somebody edited may end in a fault of the machine: status 1.
FORMAT = Format("archive", seeds, edit, command, statuses=frozenset({1}))
