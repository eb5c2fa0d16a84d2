"""Same input, same plan, same bytes: in processes that hash strings differently, with little L1 and with L3."""

import os
import subprocess
import sys

import pytest

COMPILE = """
import hashlib, sys, tvm_pulp
files = tvm_pulp.compile(sys.argv[1], soc="siracusa", **eval(sys.argv[2])).files
for name in sorted(files):
    print(name, hashlib.sha256(files[name]).hexdigest())
"""


@pytest.mark.parametrize(
    ("model", "options"),
    [
        pytest.param("zoo:dscnn", {"target": "uma-neureka", "l1": 16384}, marks=pytest.mark.slow),
        ("zoo:autoencoder", {"target": "uma-neureka", "l1": 16384}),
        pytest.param("zoo:autoencoder", {"target": "c", "l1": 12000, "l2": 200000}, marks=pytest.mark.slow),
    ],
)
def test_same_bytes_whatever_the_hash_seed(model: str, options: dict[str, object]) -> None:
    printed = []
    for seed in ("1", "2"):
        settings = {**os.environ, "PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", COMPILE, model, repr(options)]
        printed.append(subprocess.run(command, env=settings, capture_output=True, text=True, check=True).stdout)
    assert "plan.json" in printed[0] and printed[0] == printed[1]
