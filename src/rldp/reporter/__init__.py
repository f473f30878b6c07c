"""Who tells people what was found."""
