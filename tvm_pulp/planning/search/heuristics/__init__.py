"""Plans of whole networks by simple policies, and changes to the best plan so far."""

__all__ = ["balance_engines", "cut_in_step", "order_layers", "policies", "variations"]
