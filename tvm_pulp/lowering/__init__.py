"""From a canonical module to a network of layers: what planning and code generation work on."""
