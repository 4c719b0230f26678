"""The worker of the contenders that run on Python: does what the lines of its input say, until there are no more."""

import json
import sys
import traceback

from kazoo_locks import KazooLocks
from loop import run_loop


def carry_out(order, locks):
    """Answers an order; the locks are those of the last `open`."""
    what = order["do"]
    if what == "open":
        return {}, KazooLocks(order["address"])
    if what == "loop":
        return run_loop(locks, order), locks
    if what == "close":
        locks.close()
        return {}, None
    raise ValueError("unknown order")


def main():
    locks = None
    for line in sys.stdin:
        try:
            answer, locks = carry_out(json.loads(line), locks)
        except Exception:
            answer = {"error": traceback.format_exc()}
        print(json.dumps(answer), flush=True)


main()
