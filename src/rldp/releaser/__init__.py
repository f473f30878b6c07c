"""The releaser: draws outputs for people's rows, with exactly the probabilities of a protocol."""
