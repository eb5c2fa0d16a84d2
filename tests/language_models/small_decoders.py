"""Decoders that compile in seconds: two layers, heads that share keys and values."""

import functools
import json

from tvm_pulp.api import App, CompileOptions
from tvm_pulp.entry_point import silent
from tvm_pulp.frontend.zoo import decoders
from tvm_pulp.frontend.zoo.weights import DecoderShape, DecoderWeights
from tvm_pulp.language_models.compile import language_model_files
from tvm_pulp.language_models.llama import Llama
from tvm_pulp.language_models.plan_entries import plan_language_model
from tvm_pulp.language_models.request import LanguageModelRequest
from tvm_pulp.target import resolve_target

SHAPES = {
    "shared_heads": DecoderShape(width=32, layers=2, heads=4, kv_heads=2, hidden=40, vocabulary=24),
    # Products that the cores share with an accelerator when there is one token.
    "wide": DecoderShape(width=256, layers=1, heads=8, kv_heads=8, hidden=344, vocabulary=40),
    "odd": DecoderShape(width=24, layers=1, heads=2, kv_heads=2, hidden=20, vocabulary=17),
}
CAPACITY, CHUNK = 21, 4


def weights(name: str) -> DecoderWeights:
    return decoders.random_decoder_of(SHAPES[name], name, 0)


@functools.cache
def compiled(name: str, target: str, state_memory: str | None = None, module: str = "small") -> App:
    options = CompileOptions(target=target, soc="siracusa", state_memory=state_memory)
    return compiled_llama(module, weights(name), (CAPACITY, CHUNK), options)


def compiled_llama(module: str, model: DecoderWeights, sizes: tuple[int, int], options: CompileOptions) -> App:
    """A Llama of any weights; `sizes` are the tokens that its cache and a chunk hold."""
    request, target = LanguageModelRequest(module, Llama(model, *sizes)), resolve_target(options)
    return App(language_model_files(request, target, plan_language_model(request, target, silent), silent))


def facts_of(app: App) -> dict[str, object]:
    return dict(json.loads(app.files["metadata.json"])["tvm_pulp"]["decoder"])
