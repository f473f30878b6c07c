"""What every room uses: checks of arguments, bounds in true digits, tables for notebooks, the process."""
