"""Errors that a user can act on."""

from __future__ import annotations


class UserError(Exception):
    """One sentence for the user: which node or option, why, and the way out. Exit status 2."""


class GuestFault(Exception):
    """The simulated program did something the hardware would not survive. Carries the simulator's report."""
