"""``python -m opcheck`` is ``opcheck``."""

from opcheck.app.main import main

main()
