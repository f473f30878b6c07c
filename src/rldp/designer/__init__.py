"""Who designs protocols: problems in, strictly private tables with their proofs out."""
