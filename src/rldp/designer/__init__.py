"""The designer: problems in, strictly private tables with their proofs out."""
