"""Plans that are tried, with their expected cycles."""
