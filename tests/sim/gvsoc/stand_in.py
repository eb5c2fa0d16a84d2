"""An installation that looks like GVSoC's and runs programs on our own simulator."""

import sys
from pathlib import Path

# What the launcher does with `--binary`: run it here, print what the guest prints.
RUN_HERE = """
from tvm_pulp import soc
from tvm_pulp.sim.iss import Machine
machine = Machine(soc.load("siracusa-gvsoc"))
machine.load_elf(pathlib.Path(options["binary"]).read_bytes())
if "TVM_PULP_L3" in os.environ:
    machine.load_l3(0, pathlib.Path(os.environ["TVM_PULP_L3"]).read_bytes())
result = machine.run()
print(result.stdout)
sys.exit(result.exit_code)
"""


def add_sources(
    home: Path, engine: str, cores: str = "pulp.chips.siracusa.pulp_cores", headers: str = "core/engine/include"
) -> None:
    """Sources beside an installation, as far as they tell its revision: a line of its engine, cores of its cluster."""
    (home / headers / "vp").mkdir(parents=True)
    texts = {"neureka/src/neureka_fsm.cpp": engine, "chips/siracusa/cluster.py": f"import {cores} as iss"}
    for name, text in texts.items():
        path = home / "pulp" / "pulp" / name
        path.parent.mkdir(parents=True)
        path.write_text(f"{text}\n", encoding="utf-8")


def install(home: Path, body: str = RUN_HERE) -> Path:
    """A home folder with a launcher whose options are in `options`; returns the folder."""
    launcher = home / "install" / "bin" / "gvsoc"
    launcher.parent.mkdir(parents=True)
    program = home / "launcher.py"
    parse = "options = dict(a[2:].split('=', 1) for a in sys.argv[1:] if a.startswith('--'))\n"
    program.write_text(f"import os, pathlib, sys, time\n{parse}{body}", encoding="utf-8")
    root = Path(__file__).resolve().parents[3]
    launcher.write_text(f'#!/bin/sh\nPYTHONPATH={root} exec {sys.executable} {program} "$@"\n', encoding="utf-8")
    launcher.chmod(0o755)
    return home
