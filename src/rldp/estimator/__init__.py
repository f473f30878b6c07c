"""Estimates from released rows: shares, means and other linear functionals, with error bars."""
