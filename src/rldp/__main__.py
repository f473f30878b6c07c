"""``python -m rldp`` is the command ``rldp``."""

from rldp.cli import main

main()
