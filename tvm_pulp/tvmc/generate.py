"""`tvmc generate`: continue a prompt with a compiled language model, and show what it cost."""

import argparse
import sys

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.option_values import read_arrays, write_arrays
from tvm_pulp.tvmc.argument import FILE, argument
from tvm_pulp.tvmc.model_options import check_archive

ARGUMENTS = (
    argument("ARCHIVE", help="archive of a language model, written by `tvmc compile`"),
    argument("--prompt", metavar="TEXT", help="text to continue; needs a tokenizer in the archive"),
    argument("--prompt-ids", metavar="LIST", help="tokens to continue: 3,17,5"),
    argument("--tokens", type=int, default=64, metavar="N", help="tokens to produce; default 64"),
    argument("--temperature", type=float, default=0.0, help="0 takes the likeliest token (default)"),
    argument("--top-k", type=int, default=0, metavar="K", help="choose among the K likeliest; 0: all"),
    argument("--top-p", type=float, default=0.0, metavar="P", help="choose among the likeliest that have P"),
    argument("--seed", type=int, default=1, help="of the choice; the same seed gives the same tokens"),
    argument("--force-ids", metavar="LIST", help="tokens that follow whatever is chosen (teacher forcing)"),
    argument("-i", "--inputs", metavar="F.npz", help="what all tokens share, such as an encoder's inputs, by name"),
    argument("-o", "--outputs", writes=FILE, metavar="F.npz", help="write `tokens`, and the `logits` they came from"),
)
EPILOG = 'Example: tvmc generate story.tar --prompt "Once there was a shy fox" --tokens 80 --temperature 0.7'


def run(args: argparse.Namespace) -> int:
    refuse_if((args.prompt is None) == (args.prompt_ids is None), "give either --prompt or --prompt-ids")
    for option, value in (("--top-k", args.top_k), ("--top-p", args.top_p)):
        refuse_if(value and args.temperature == 0, f"{option} has no effect without --temperature: give one above 0")
    check_archive(args.ARCHIVE)
    from tvm_pulp.api import App
    from tvm_pulp.language_models.figures import phases
    from tvm_pulp.language_models.session import Generated, GenerationRequest, Sampling
    from tvm_pulp.soc import recorded

    app = App.load(args.ARCHIVE)
    refuse_if(
        "decoder" not in app.metadata["tvm_pulp"],
        f"'{args.ARCHIVE}' holds no language model with a cache: compile one, for example zoo:story_llama",
    )
    tokenizer = app.tokenizer() if args.prompt is not None or "tokenizer.json" in app.files else None
    if args.prompt is not None:
        assert tokenizer is not None
        prompt = tokenizer.encode(args.prompt)
    else:
        prompt = parse_tokens(args.prompt_ids, "--prompt-ids")
    forced = parse_tokens(args.force_ids, "--force-ids") if args.force_ids else []
    sampling = Sampling(args.temperature, args.top_k, args.top_p, args.seed)
    inputs = dict(read_arrays(args.inputs, "--inputs")) if args.inputs else {}
    request = GenerationRequest(prompt, args.tokens, sampling, forced, bool(args.outputs), inputs)
    generator = app.generator()
    generator.check(request)
    print(f"tvmc generate: {len(prompt)} tokens in, {args.tokens} out", file=sys.stderr, flush=True)
    if args.prompt is not None:
        print(args.prompt, end="", flush=True)
    made: list[int] = []
    shown = ""
    whole: Generated | None = None
    for item in generator.stream(request):
        if isinstance(item, Generated):
            whole = item
            continue
        # What follows continues what was forced.
        made.append(forced[len(made)] if len(made) < len(forced) else item)
        text = tokenizer.decode(made) if tokenizer is not None else ",".join(map(str, made))
        print(text[len(shown) :], end="", flush=True)
        shown = text
    assert whole is not None
    print()
    first = generator.generate(GenerationRequest(prompt, 1, sampling, inputs=inputs))
    prefill, decode = phases(recorded(app.metadata["tvm_pulp"]), len(prompt), first, whole, generator.unit)
    if whole.encode_cycles is not None:
        print(f"encode:  {whole.encode_cycles} {generator.unit}")
    print(f"prefill: {prefill.line}")
    if decode is not None:
        print(f"decode:  {decode.line}")
    if args.outputs:
        assert whole.logits is not None
        import numpy as np

        tokens = np.array(whole.tokens, np.int32)
        write_arrays(args.outputs, {"tokens": tokens, "logits": whole.logits[len(prompt) - 1 :]})
    return 0


def parse_tokens(text: str, option: str) -> list[int]:
    """`3,17,5` as numbers."""
    try:
        return [int(part) for part in text.split(",") if part.strip()]
    except ValueError:
        raise UserError(f"{option} '{text}' is not a list of numbers such as 3,17,5") from None
