"""ETISS, an installation of the user's own, as a device."""
