"""kazoo's locks over one client of this process."""

from kazoo.client import KazooClient


class KazooLocks:
    def __init__(self, address):
        self._client = KazooClient(hosts=address, timeout=30)
        self._client.start()

    def locker(self, key):
        """Called once for every caller: a lock object of kazoo serves one at a time."""
        return self._client.Lock("/kazoo/" + key)

    def close(self):
        self._client.stop()
        self._client.close()
