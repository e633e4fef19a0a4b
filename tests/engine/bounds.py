"""Runs random programs on kernels with room and without: for a process in which bounds are checked.

`python -m tests.engine.bounds NUMBER`; fails with the first wrong result or index out of bounds.
"""

from __future__ import annotations

import random
import sys

from numba import config

from engine.kernel import compiled
from engine.kernel.solver import KernelSolver
from engine.kernel.state import Capacity
from tests.engine.feeding import Feeder
from tests.engine.naive import naive
from tests.engine.programs import CLASS, LARGE, OBJECT, SMALL, Script, random_program

ROOMY = Capacity(1 << 16, 1 << 18, 1 << 18, 1 << 16, 1 << 10, 1 << 12, 1 << 10)


def check(seed: int) -> bool:
    """Checks one program on one kernel; returns whether its pools sufficed."""
    choose = random.Random(seed)
    program = random_program(seed, choose.choice((SMALL, LARGE)))
    capacity = ROOMY
    for field in Capacity._fields:
        if choose.random() < 0.1:
            capacity = capacity._replace(**{field: choose.randint(1, 1 << choose.randint(0, 9))})
    script = Script(
        choose.choice((0, 40, 1 << 40)), choose.choice((0, 63, 64)), choose.choice((0.3, 1.0)), seed
    )
    solver = KernelSolver(OBJECT, CLASS, capacity, choose.choice((0, 2000)), 0, choose.choice((0, 1 << 60)))
    feeder = Feeder(solver, program, script)
    enough = feeder.run()
    found, expected = feeder.result(), naive(program)
    assert found == expected if enough else found.within(expected), seed
    return enough


if __name__ == "__main__":
    assert config.BOUNDSCHECK, "NUMBA_BOUNDSCHECK is not set"
    if not compiled.is_built():
        for _ in compiled.build():
            pass
    outcomes = [check(seed) for seed in range(int(sys.argv[1]))]
    print(outcomes.count(True), outcomes.count(False))
