"""The matrix of decoders of `transformers`: families, exporters, quantizations, and which cells no tool makes."""

from itertools import product

FAMILIES = {
    "llama": "Llama, grouped queries",
    "smollm": "SmolLM: Llama, tied embedding",
    "mistral": "Mistral",
    "mistral_window": "Mistral, sliding window",
    "qwen2": "Qwen2, biases, one key head",
    "gemma": "Gemma, heads wider than the model",
    "gpt2": "GPT-2, learned positions",
    "gpt_neox": "GPT-NeoX, partly rotary",
    "opt": "OPT, learned positions with an offset",
    "phi": "Phi, partly rotary, biases",
}
FILES = {
    "torchscript": "`torch.onnx`, older",
    "dynamo": "`torch.onnx`, newer",
    "merged": "merged (`use_cache_branch`)",
    "optimum": "optimum-onnx",
}
PROGRAM = "`torch.export`"
WAYS = {"float": "float", "static": "static QDQ", "dynamic": "dynamic", "nbits": "`MatMulNBits`"}
CELLS = [*product(FAMILIES, FILES, WAYS), *product(FAMILIES, ("export",), ("float", "pt2e"))]
# What no tool makes, with the error of the tool.
NOT_MADE = {("opt", "dynamo", "dynamic"): "Inferred shape and existing shape differ"}

# The quantizer gives scores and mask one scale: all scores become the same, and tokens of a chunk see each other, in
# onnxruntime too.
WITHOUT_MASK = {("opt", "optimum", "static")}
# The quantizer gives scores and mask, which lie further apart than floats go, a scale that is infinite.
REFUSED = {("gpt2", "optimum", "static"): "scale .* must be positive and finite: quantize the model again"}
# Every family with every exporter and every quantization of files, and every exporter with every quantization: cells of
# which the simulated chip has generated the tokens.
_PAIRS = [(f, e, list(WAYS)[(i + j) % 4]) for i, f in enumerate(FAMILIES) for j, e in enumerate(FILES)]
_PROGRAMS = [(f, "export", "float" if i % 2 else "pt2e") for i, f in enumerate(FAMILIES)]
GENERATED = {*_PAIRS, *_PROGRAMS} - set(NOT_MADE)


def table() -> str:
    """The matrix in Markdown: a row for every exporter and quantization, a column for every family."""
    lines = [
        f"Decoders of `transformers` with small random weights, {len(CELLS)} combinations: programs for chunks and "
        "single tokens give the logits of the file, token by token (`tests/language_models/test_hub_decoders.py`). "
        "✓: equal; ✔: and the simulated chip has generated the tokens of the file, in a pairwise cover of families, "
        "exporters and quantizations; (✓): equal token by token, its quantizer lost the causal mask; "
        "✗: refused, its quantizer wrote an infinite scale; "
        "–: onnxruntime's quantizer does not make it (its shape inference fails on that export).\n",
        f"| export | quantization | {' | '.join(FAMILIES)} |",
        f"|---|---|{'---|' * len(FAMILIES)}",
    ]
    for exporter, how in dict.fromkeys(cell[1:] for cell in CELLS):
        cells = " | ".join(_state((family, exporter, how)) for family in FAMILIES)
        lines.append(f"| {FILES.get(exporter, PROGRAM)} | {WAYS.get(how, 'PT2E')} | {cells} |")
    meaning = "; ".join(f"{name}: {text}" for name, text in FAMILIES.items())
    return "\n".join([*lines, f"\n{meaning}.\n"])


def _state(cell: tuple[str, str, str]) -> str:
    if cell in REFUSED:
        return "✗"
    return "–" if cell in NOT_MADE else "(✓)" if cell in WITHOUT_MASK else "✔" if cell in GENERATED else "✓"
