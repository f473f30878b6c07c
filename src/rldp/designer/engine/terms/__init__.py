"""The privacy and utility terms of a Newton step, at a strictly private point."""
