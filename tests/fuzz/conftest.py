"""The fuzzers' modules are imported by their names, as when they run as scripts."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
