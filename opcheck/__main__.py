"""``python -m opcheck`` is ``opcheck``."""

from opcheck.cli.main import main

main()
