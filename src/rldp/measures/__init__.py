"""What a protocol leaks and costs: under a distribution, at worst over a set, and by its posterior law."""
