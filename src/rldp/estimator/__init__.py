"""What released rows say about the values: shares, means and other linear functionals, with error bars."""
