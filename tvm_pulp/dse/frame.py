"""Rows of a study as a pandas DataFrame, and what a study says where a library is missing that only studies need."""

import importlib
from collections.abc import Mapping, Sequence
from typing import Any

from tvm_pulp.dse.configuration import Configuration
from tvm_pulp.dse.evaluate import COMPILED, SIMULATED
from tvm_pulp.errors import UserError


def need(module: str, why: str) -> Any:
    """The module; a user error that names the line for pip where it is not installed."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        name = error.name or module
        raise UserError(f"{why} needs {name}, which is not installed: run `pip install 'tvm_pulp[dse]'`") from None


# What differs from one run to the next: how long this machine took.
SECONDS = ("compile_s", "build_s", "simulate_s")
_SHARE = "share_"
_INTEGERS = ("cycles", "cold_cycles", "prefill_cycles", "estimated_cycles", "bound_cycles", "instructions", "macs",
             "l1_bytes", "l2_bytes", "l3_bytes", "wmem_bytes", "code_bytes")  # fmt: skip


def make_frame(configurations: Sequence[Configuration], rows: Sequence[Mapping[str, Any] | None]) -> Any:
    """A row for each configuration that has one, in their order; columns do not depend on who computed what."""
    pandas = need("pandas", "the table of a study")
    labels = list(dict.fromkeys(name for c in configurations for name in c.labels))
    shares = sorted({name for row in rows if row is not None for name in row if name.startswith(_SHARE)})
    first = ("cycles", "estimated_cycles", "bound_cycles", "energy_uj", "energy_spread", "area_mm2")
    rest = [name for name in (*SIMULATED, *COMPILED) if name not in (*first, *SECONDS)]
    columns = [*labels, *first, *shares, *rest, *SECONDS, "error"]
    made = [
        {name: {**configuration.labels, **row}.get(name) for name in columns}
        for configuration, row in zip(configurations, rows, strict=True)
        if row is not None
    ]
    frame = pandas.DataFrame(made, columns=columns)
    # Cycles and bytes stay whole numbers where some row does not know them.
    return frame.astype(dict.fromkeys(_INTEGERS, "Int64") | dict.fromkeys(shares, "Float64"))
