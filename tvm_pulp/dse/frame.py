"""Rows of a study as a pandas DataFrame, and what a study says where a library is missing that only studies need."""

from collections.abc import Mapping, Sequence
from typing import Any

from tvm_pulp.dse.configuration import Configuration
from tvm_pulp.plug_ins import needed


def need(module: str, why: str) -> Any:
    """The module; a user error that names the line for pip where it is not installed."""
    return needed(module, f"{why} needs {{}}, which is not installed: run `pip install 'tvm_pulp[dse]'`")


# Columns of figures, those of engines' shares between the two lists; some are no whole numbers.
_FIRST = ("cycles", "estimated_cycles", "bound_cycles", "energy_uj", "energy_spread", "area_mm2")
_REST = ("cold_cycles", "prefill_cycles", "instructions", "milliseconds", "code_bytes", "outputs", "macs", "l1_bytes",
         "l2_bytes", "l3_bytes", "wmem_bytes", "area_source")  # fmt: skip
_NO_INTEGERS = ("energy_uj", "energy_spread", "area_mm2", "milliseconds", "outputs", "area_source")
# What differs from one run to the next: how long this machine took.
SECONDS = ("compile_s", "build_s", "simulate_s")
_SHARE = "share_"


def make_frame(configurations: Sequence[Configuration], rows: Sequence[Mapping[str, Any] | None]) -> Any:
    """A row for each configuration that has one, in their order; columns do not depend on who computed what."""
    pandas = need("pandas", "the table of a study")
    labels = list(dict.fromkeys(name for c in configurations for name in c.labels))
    shares = sorted({name for row in rows if row is not None for name in row if name.startswith(_SHARE)})
    columns = [*labels, *_FIRST, *shares, *_REST, *SECONDS, "error"]
    made = [
        {name: {**configuration.labels, **row}.get(name) for name in columns}
        for configuration, row in zip(configurations, rows, strict=True)
        if row is not None
    ]
    frame = pandas.DataFrame(made, columns=columns)
    # Cycles and bytes stay whole numbers where some row does not know them.
    integers = [name for name in (*_FIRST, *_REST) if name not in _NO_INTEGERS]
    return frame.astype(dict.fromkeys(integers, "Int64") | dict.fromkeys(shares, "Float64"))
