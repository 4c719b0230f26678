"""
kazoo's barrier, double barrier and counter.
Arguments: the connect string, the session timeout in milliseconds.
"""

import sys

from commands import Commands
from kazoo.recipe.barrier import Barrier, DoubleBarrier
from kazoo.recipe.counter import Counter
from kazoo_client import connect


class Coordination:
    def __init__(self, client):
        self._client = client
        self._members = {}

    def raise_barrier(self, params):
        Barrier(self._client, params["path"]).create()

    def lift_barrier(self, params):
        Barrier(self._client, params["path"]).remove()

    def wait_at_barrier(self, params):
        return Barrier(self._client, params["path"]).wait(timeout=params["waitMs"] / 1000)

    def enter(self, params):
        member = DoubleBarrier(self._client, params["path"], params["count"])
        member.enter()
        self._members[params["path"]] = member

    def leave(self, params):
        self._members.pop(params["path"]).leave()

    def add(self, params):
        counter = Counter(self._client, params["path"], support_curator=True)
        counter += params["delta"]
        return counter.value


coordination = Coordination(connect(sys.argv[1], int(sys.argv[2])))
Commands().on("raise", coordination.raise_barrier).on("lift", coordination.lift_barrier).on(
    "wait", coordination.wait_at_barrier
).on("enter", coordination.enter).on("leave", coordination.leave).on("add", coordination.add).run()
