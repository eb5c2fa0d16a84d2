"""Seeds: where a search begins. Covers, orders and engines of the network, and plans of all of it by one rule each."""

__all__ = ["arrange_layers", "cover", "order_layers", "rules"]
