"""The ways in which an array runs a layer, and which of them a layer is offered."""
