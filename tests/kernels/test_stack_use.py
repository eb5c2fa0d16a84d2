"""What kernels and whole archives need of the stack that every core has, with either compiler."""

from pathlib import Path
from typing import Any

import pytest

import tvm_pulp
from tests.kernels.call import RUNTIME, machine_of
from tests.kernels.check import TOOLCHAINS
from tests.kernels.stack_use import StackUse, stack_use
from tvm_pulp import soc
from tvm_pulp.soc.platform import Platform
from tvm_pulp.toolchain import RiscvToolchain
from tvm_pulp.toolchain.project.build_archive import sources_of
from tvm_pulp.toolchain.project.unpack import unpack

# Kept free: for the functions above a kernel (144 bytes by GNU's compiler, the larger one), and for those of the
# compilers' own libraries, whose frames nobody says.
ABOVE_A_KERNEL, OF_LIBRARIES = 160, 128
# Kernels that machines of tiles have no use for: an engine of another machine is what asks for them.
OF_AN_ENGINE = {"attention_weights.c"}
# What a kernel cannot get to, though its callee can: results of four bytes in whole tiles need nothing slow.
NOT_REACHED = {"tvm_pulp_kernel_long_dense": "run_slowly"}


def kernels(family: str, toolchain: RiscvToolchain, folder: Path) -> tuple[StackUse, int]:
    """What the kernels of a family need, and what a core has."""
    platform = Platform(soc.load("minpool" if family == "tiles" else machine_of(family)))
    hal, shared = RUNTIME / "hal" / platform.soc.software.hal, RUNTIME / "hal" / "shared"
    includes = [RUNTIME / "include", RUNTIME / "kernels/include", RUNTIME / "libc"]
    includes += [path for part in (hal, shared) for path in (part / "include", part) if path.is_dir()]
    sources = [*sorted((RUNTIME / "kernels" / family).glob("*.c")), RUNTIME / "libc/memory.c"]
    flags, march = platform.soc.software.flags, platform.march(uses_float=True)
    if family == "tiles":
        # Their other half are kernels of the cluster, among which some need the float unit.
        others = sorted(path for path in (RUNTIME / "kernels/xpulp").glob("*.c") if path.name not in OF_AN_ENGINE)
        sources += [path for path in others if not (RUNTIME / "kernels/tiles" / path.name).exists()]
        sources = [path for path in sources if '"f"' not in path.read_text(encoding="utf-8")]
    return stack_use(sources, includes, flags, toolchain, march, folder), platform.soc.software.stack_bytes


@pytest.mark.parametrize("toolchain", TOOLCHAINS)
@pytest.mark.parametrize(
    "family", ["rv32im", *(pytest.param(name, marks=pytest.mark.slow) for name in ("rv32", "xpulp", "tiles"))]
)
def test_no_kernel_needs_more_than_a_core_has(family: str, toolchain: RiscvToolchain, tmp_path: Path) -> None:
    use, room = kernels(family, toolchain, tmp_path)
    kernels_of = [name for name in use.frames if name.startswith("tvm_pulp_kernel_")]
    needs = {name: use.without(NOT_REACHED.get(name)).chain(name) for name in kernels_of}
    assert len(needs) >= 4
    assert max(size for size, _ in needs.values()) > 100, "frames were not read"
    limit = room - ABOVE_A_KERNEL - OF_LIBRARIES
    assert {name: found for name, found in needs.items() if found[0] > limit} == {}


@pytest.mark.parametrize("toolchain", TOOLCHAINS)
@pytest.mark.parametrize(
    ("network", "options"),
    [
        pytest.param("autoencoder", {"target": "uma-neureka"}, marks=pytest.mark.slow),
        pytest.param("vit_block", {"target": "c", "soc": "siracusa"}, marks=pytest.mark.slow),
        pytest.param("qdq_llama", {"target": "c", "soc": "siracusa"}, marks=pytest.mark.slow),
        pytest.param("vit_block", {"target": "c", "soc": "snitch-ita"}, marks=pytest.mark.slow),
        pytest.param("dscnn", {"target": "c", "soc": "rv32-mcu"}, marks=pytest.mark.slow),
    ],
)
def test_archives_keep_within_their_stacks(
    network: str, options: dict[str, Any], toolchain: RiscvToolchain, tmp_path: Path
) -> None:
    """From the first C function of a core that computes, to the end of every chain."""
    app = tvm_pulp.compile(f"zoo:{network}", **options)
    facts = app.metadata["tvm_pulp"]
    unpack(app.files, tmp_path / "net")
    sources, includes, _ = sources_of(tmp_path / "net", facts.get("code_order", []))
    defines = [f"TVM_PULP_CORES={facts['cores']}", *facts.get("defines", [])]
    flags = [*(f"-D{define}" for define in defines), *facts.get("flags", [])]
    written = [path for path in sources if path.suffix == ".c"]
    use = stack_use(written, includes, flags, toolchain, facts["march"], tmp_path)
    first = "tvm_pulp_cluster_main" if "tvm_pulp_cluster_main" in use.frames else "tvm_pulp_main"
    needed, chain = use.chain(first)
    assert any(name.startswith("tvm_pulp_kernel_") for name in use.frames)
    assert needed <= soc.recorded(facts).software.stack_bytes - OF_LIBRARIES, chain
