"""Costs of a quantization as a table."""

from typing import TextIO

from tvm_pulp.frontend.quantize.quantize_model import Quantized


def print_quantized(made: Quantized, stream: TextIO) -> None:
    """Layers by what each alone costs, and what all of them together do."""
    head = ("layer", "operator", "SQNR alone", "arg-max alone", "")
    lines = [head]
    for row in made.layers:
        kept = "kept in float" if row.name in made.kept else ""
        lines.append((row.name, row.operator, _decibel(row.sqnr_db), f"{row.arg_max_agreement:.1%}", kept))
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    for line in lines:
        print("  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip(), file=stream)
    cost = made.accuracy
    text = f"{_decibel(cost.sqnr_db)}, arg-max agreement {cost.arg_max_agreement:.2%} of {cost.rows} rows"
    if cost.metric is not None:
        text += f", metric {cost.metric[0]:.4g} before and {cost.metric[1]:.4g} after"
    kept = f"; {len(made.kept)} of {len(made.layers)} layers kept in float" if made.kept else ""
    print(f"\nquantized: {text}{kept}", file=stream)


def _decibel(ratio: float) -> str:
    return f"{ratio:.1f} dB" if ratio < 1e6 else "exact"
