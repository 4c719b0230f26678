"""ZooKeeper's C client against the server whose address is the argument. Prints the name of each check that has passed."""

import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from ctypes import byref

from c_library import (
    ANY_VERSION,
    CHANGED,
    CHILDREN,
    CONNECTED,
    CONTAINER,
    CREATED,
    CREATOR_ALL,
    DELETED,
    EPHEMERAL,
    EPHEMERAL_SEQUENTIAL,
    EXPIRED,
    LIMIT,
    OPEN,
    PERSISTENT,
    WITH_TTL,
    Client,
    Refused,
    Watcher,
)

NO_NODE, NO_AUTH, BAD_VERSION, NODE_EXISTS, NOT_EMPTY, NO_WATCHER = -101, -102, -103, -110, -111, -121
NOT_TRIED = -2
hosts = sys.argv[1]


def refused(code, act, *arguments):
    try:
        act(*arguments)
    except Refused as error:
        assert error.code == code, error
    else:
        raise AssertionError(f"{code} was expected")


def create(one, other):
    assert one.create("/c", b"data") == "/c"
    assert other.get("/c")[0] == b"data"
    refused(NODE_EXISTS, other.create, "/c")
    refused(NO_NODE, other.create, "/nowhere/c")
    assert one.create("/c/s-", mode=EPHEMERAL_SEQUENTIAL) == "/c/s-0000000000"
    path, stat = other.create_and_stat("/c/s-", b"\0x", EPHEMERAL_SEQUENTIAL)
    assert path == "/c/s-0000000001" and stat.ephemeral_owner == other.id and stat.data_length == 2
    assert one.exists("/c/s-0000000000").ephemeral_owner == one.id
    assert one.children("/c") == ["s-0000000000", "s-0000000001"]
    refused(NOT_EMPTY, one.delete, "/c")


def removed_by_the_server(one, other):
    one.create("/container", mode=CONTAINER)
    assert other.create_and_stat("/container-2", mode=CONTAINER)[1].ephemeral_owner == 0
    one.create("/container/child")
    gone, over = Watcher(), Watcher()
    other.exists("/container", gone)
    one.delete("/container/child")
    assert gone.next() == (DELETED, "/container")
    assert one.create_and_stat("/short", b"x", WITH_TTL, ttl_ms=50)[0] == "/short"
    if other.exists("/short", over):
        assert over.next() == (DELETED, "/short")


def read_and_write(one, other):
    one.create("/value", b"1")
    assert one.set("/value", b"22").version == 1
    data, stat = other.get("/value")
    assert (data, stat.version, stat.data_length, stat.num_children) == (b"22", 1, 2, 0)
    assert stat.mzxid > stat.czxid == stat.pzxid and stat.mtime >= stat.ctime > 0
    refused(BAD_VERSION, other.set, "/value", b"3", 0)
    refused(BAD_VERSION, other.delete, "/value", 0)
    other.delete("/value", 1)
    assert one.exists("/value") is None
    refused(NO_NODE, one.get, "/value")


def watches(one, other):
    on_node, on_data, on_children = Watcher(), Watcher(), Watcher()
    assert one.exists("/watched", on_node) is None
    other.create("/watched")
    assert on_node.next() == (CREATED, "/watched")
    one.get("/watched", on_data)
    other.set("/watched", b"x")
    assert on_data.next() == (CHANGED, "/watched")
    one.children("/watched", on_children)
    other.create("/watched/child")
    assert on_children.next() == (CHILDREN, "/watched")
    one.get("/watched/child", on_data)
    other.delete("/watched/child")
    assert on_data.next() == (DELETED, "/watched/child")
    assert all(watcher.is_silent() for watcher in (on_node, on_data, on_children)), "a watch has fired twice"


def removed_watches(one, other):
    on_data, kept = Watcher(), Watcher()
    one.create("/unwatched")
    one.get("/unwatched", on_data)
    one.children("/unwatched", kept)
    one.remove_watch("/unwatched", on_data, 2)
    refused(NO_WATCHER, one.remove_watch, "/unwatched", on_data, 2)
    other.set("/unwatched", b"x")
    other.create("/unwatched/child")
    assert kept.next() == (CHILDREN, "/unwatched")
    assert all(on_data.events.get_nowait()[0] != CHANGED for _ in range(on_data.events.qsize()))


class Lock:
    """The recipe: the contender with the lowest number holds, every other one watches the one before it."""

    def __init__(self, client, path):
        self.client, self.path, self.mine = client, path, None

    def ask(self):
        self.mine = self.client.create(f"{self.path}/lock-", mode=EPHEMERAL_SEQUENTIAL)
        return self

    def predecessor(self):
        before = [name for name in self.client.children(self.path) if name < self.mine.rsplit("/", 1)[1]]
        return f"{self.path}/{before[-1]}" if before else None

    def acquire(self, on_waiting=lambda: None):
        while predecessor := self.predecessor():
            gone = Watcher()
            if self.client.exists(predecessor, gone):
                on_waiting()
                assert gone.next() == (DELETED, predecessor)

    def release(self):
        self.client.delete(self.mine)


def handed_over(let_go, first, second):
    """The second waits, and holds once the first has let go."""
    waits = threading.Event()
    first.acquire()
    waiting = threading.Thread(target=second.acquire, args=(waits.set,), daemon=True)
    waiting.start()
    assert waits.wait(LIMIT) and waiting.is_alive(), "both hold"
    let_go()
    waiting.join(LIMIT)
    assert not waiting.is_alive() and second.predecessor() is None


def lock(one, other):
    one.create("/lock")
    first, second = Lock(one, "/lock").ask(), Lock(other, "/lock").ask()
    handed_over(first.release, first, second)
    second.release()
    leaving = Client(hosts)
    first, second = Lock(leaving, "/lock").ask(), Lock(other, "/lock").ask()
    handed_over(leaving.close, first, second)
    second.release()
    assert one.children("/lock") == []


def many_locks(one, other, rounds=20):
    one.create("/contended")
    inside, turns, worst = [], [], []

    def work(client):
        for _ in range(rounds):
            held = Lock(client, "/contended").ask()
            held.acquire()
            inside.append(client)
            worst.append(len(inside))
            turns.append(client)
            inside.remove(client)
            held.release()

    opened = [Client(hosts) for _ in range(4)]
    with ThreadPoolExecutor(len(opened)) as threads:
        list(threads.map(work, opened, timeout=LIMIT))
    for client in opened:
        client.close()
    assert max(worst) == 1 and len(turns) == 4 * rounds
    assert one.children("/contended") == []


def transactions(one, other):
    # Without a container: this client takes the stat in the answer for the next result, whoever answers, and aborts.
    new = (b"x", 1, byref(OPEN))
    codes, made = one.transact(
        ("create", b"/both", *new, PERSISTENT),
        ("create", b"/both/s-", *new, EPHEMERAL_SEQUENTIAL),
        ("set", b"/both", b"yy", 2, 0),
        ("check", b"/both", 1),
    )
    assert codes == [0, 0, 0, 0] and made[:2] == ["/both", "/both/s-0000000000"], (codes, made)
    data, stat = other.get("/both")
    assert (data, stat.version) == (b"yy", 1) and other.exists(made[1]).czxid == stat.czxid
    codes, _ = one.transact(
        ("delete", made[1].encode(), ANY_VERSION),
        ("check", b"/both", 0),
        ("create", b"/third", *new, PERSISTENT),
    )
    assert codes == [0, BAD_VERSION, NOT_TRIED], codes
    assert other.exists(made[1]) and other.exists("/third") is None


def permissions(one, other):
    known = Client(hosts)
    known.authenticate(b"digest", b"ann:secret")
    known.create("/private", b"x", acl=CREATOR_ALL)
    assert known.get("/private")[0] == b"x"
    [(allowed, scheme, identity)] = known.permissions("/private")
    assert (allowed, scheme) == (31, b"digest") and identity.startswith(b"ann:")
    refused(NO_AUTH, other.get, "/private")
    refused(NO_AUTH, other.set, "/private", b"y")
    refused(NO_AUTH, other.create, "/private/child")
    known.permit("/private", OPEN, 0)
    assert other.get("/private")[0] == b"x"
    known.close()


def chroot(one, other):
    one.create("/root")
    below, told = Client(f"{hosts}/root"), Watcher()
    assert below.exists("/a", told) is None
    assert below.create("/a") == "/a" and told.next() == (CREATED, "/a")
    assert one.children("/root") == ["a"] and below.children("/") == ["a"]
    below.close()


def reconnect(one, other):
    """The server cuts the owner of /kept off and ends the session of /gone at once: see who has started it."""
    doomed, id_of_one = Client(hosts), one.id
    gone, came, later = Watcher(), Watcher(), Watcher()
    one.create("/later")
    doomed.create("/gone", mode=EPHEMERAL)
    one.exists("/gone", gone)
    one.exists("/came", came)
    one.get("/later", later)
    one.create("/kept", mode=EPHEMERAL)
    one.session.reaches(CONNECTED)
    assert gone.next() == (DELETED, "/gone"), "what it has missed"
    assert one.id == id_of_one and other.exists("/kept").ephemeral_owner == id_of_one
    other.create("/came")
    other.set("/later", b"x")
    assert came.next() == (CREATED, "/came") and later.next() == (CHANGED, "/later")
    doomed.session.reaches(EXPIRED)
    refused(-9, doomed.create, "/by-the-dead")
    doomed.close()


RECIPES = (lock, many_locks)
CALLS = (create, removed_by_the_server, read_and_write, watches, removed_watches, transactions, permissions, chroot)

one, other = Client(hosts), Client(hosts)
assert one.id != other.id
for check in (reconnect,) + CALLS + RECIPES:
    check(one, other)
    print(check.__name__, flush=True)
one.close()
other.close()
