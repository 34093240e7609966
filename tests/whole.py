"""Whether tests take everything, as ``make test-whole`` has it, or a share of what is alike."""

import os

WHOLE = os.environ.get("OPCHECK_WHOLE") == "1"
