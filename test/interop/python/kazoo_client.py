"""A kazoo client as a service would have it."""

from kazoo.client import KazooClient


def connect(connect_string, session_timeout_ms):
    """Connected, with a session of so many milliseconds."""
    client = KazooClient(hosts=connect_string, timeout=session_timeout_ms / 1000)
    client.start()
    return client
