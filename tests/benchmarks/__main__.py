"""`python -m tests.benchmarks`: the comparison with the peer, on the default programs."""

import sys

from tests.benchmarks.compare import main

sys.exit(main(["--peer", *sys.argv[1:]]))
