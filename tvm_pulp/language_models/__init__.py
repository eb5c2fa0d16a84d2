"""Language models: decoders as networks with state, the C around their programs, and text that they generate.

exported   decoders as exporters write them: roles of inputs, caches, positions
llama      the zoo's Llama as dialect modules
request    what is asked: a decoder, its capacity, a name, a tokenizer
compile    one module and one plan per entry point, then the files of the archive
source     C around the programs: state, tables, entry points
session    generation on the simulator; tokenizer and figures are what is shown of it
"""

__all__ = ["compile", "exported", "figures", "request", "session", "tokenizer"]
