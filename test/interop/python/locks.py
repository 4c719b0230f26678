"""
kazoo's locks: stock, with `extra_lock_patterns`, and with the names that Curator's mutex writes.
Arguments: the connect string, the session timeout in milliseconds.
"""

import sys
import time

from commands import Commands
from kazoo.exceptions import LockTimeout
from kazoo.recipe.lock import Lock, ReadLock, WriteLock
from kazoo_client import connect


class CuratorNamedLock(Lock):
    """kazoo's lock in Curator's dialect: seen by, and sees, whoever calls its contenders `…-lock-<number>`."""

    _NODE_NAME = "-lock-"
    _EXCLUDE_NAMES = ["-lock-"]


KINDS = {
    "mutex": Lock,
    "configured mutex": lambda client, path: Lock(client, path, extra_lock_patterns=["-lock-"]),
    "curator-named mutex": CuratorNamedLock,
    "read": ReadLock,
    "write": WriteLock,
}


class Locks:
    def __init__(self, client):
        self._client = client
        self._held = {}

    def acquire(self, params):
        """When it was granted, on the machine's monotonic clock in nanoseconds; `None` when it was not."""
        lock = KINDS[params["kind"]](self._client, params["path"])
        try:
            lock.acquire(timeout=params["waitMs"] / 1000)
        except LockTimeout:
            return None
        self._held[self._name_of(params)] = lock
        return time.monotonic_ns()

    def release(self, params):
        """Until when it was surely held."""
        held_until = time.monotonic_ns()
        self._held.pop(self._name_of(params)).release()
        return held_until

    @staticmethod
    def _name_of(params):
        return params["kind"] + params["path"]


locks = Locks(connect(sys.argv[1], int(sys.argv[2])))
Commands().on("acquire", locks.acquire).on("release", locks.release).run()
