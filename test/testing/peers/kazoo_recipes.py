"""Kazoo's recipes against the ZooKeeper whose address is the argument. Prints the name of each that has done its work."""

import socket
import sys
import threading

from kazoo.client import KazooClient
from kazoo.exceptions import NoNodeError, RolledBackError
from kazoo.recipe.barrier import Barrier, DoubleBarrier
from kazoo.recipe.counter import Counter
from kazoo.recipe.election import Election
from kazoo.recipe.lock import Lock, ReadLock, Semaphore, WriteLock
from kazoo.recipe.party import Party
from kazoo.recipe.queue import LockingQueue, Queue
from kazoo.security import make_digest_acl

LIMIT = 30
hosts = sys.argv[1]


def client(**options):
    opened = KazooClient(hosts=hosts, timeout=5.0, **options)
    opened.start(timeout=LIMIT)
    return opened


def finish(threads):
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LIMIT)
        assert not thread.is_alive(), "a thread is stuck"


def counted(make, rounds=20, workers=4, most=1):
    """Nobody is ever inside with more others than allowed, and all get their turn."""
    guard, inside, worst, turns = threading.Lock(), [0], [0], [0]

    def work(zk):
        for _ in range(rounds):
            with make(zk):
                with guard:
                    inside[0] += 1
                    turns[0] += 1
                    worst[0] = max(worst[0], inside[0])
                with guard:
                    inside[0] -= 1

    opened = [client() for _ in range(workers)]
    finish([threading.Thread(target=work, args=(zk,), daemon=True) for zk in opened])
    for zk in opened:
        zk.stop()
    assert worst[0] <= most, f"{worst[0]} at once"
    assert turns[0] == rounds * workers


def lock(one, other):
    counted(lambda zk: Lock(zk, "/locks/mutex"))
    held = Lock(one, "/locks/mutex", "one")
    assert held.acquire()
    assert not Lock(other, "/locks/mutex", "other").acquire(blocking=False)
    assert Lock(other, "/locks/mutex").contenders() == ["one"]
    held.release()


def read_write_lock(one, other):
    readers = [ReadLock(one, "/locks/rw"), ReadLock(other, "/locks/rw")]
    assert all(reader.acquire(timeout=LIMIT) for reader in readers)
    assert not WriteLock(one, "/locks/rw").acquire(blocking=False)
    for reader in readers:
        reader.release()
    counted(lambda zk: WriteLock(zk, "/locks/rw"))


def semaphore(one, other):
    counted(lambda zk: Semaphore(zk, "/locks/semaphore", max_leases=2), most=2)
    held = Semaphore(one, "/locks/semaphore", max_leases=2)
    assert held.acquire()
    assert len(Semaphore(other, "/locks/semaphore", max_leases=2).lease_holders()) == 1
    held.release()


def election(one, other):
    leads = []
    done = threading.Event()

    def lead(name):
        leads.append(name)
        if len(leads) == 2:
            done.set()

    threads = [
        threading.Thread(target=Election(zk, "/election", name).run, args=(lead, name), daemon=True)
        for zk, name in ((one, "one"), (other, "other"))
    ]
    finish(threads)
    assert done.wait(LIMIT) and sorted(leads) == ["one", "other"]


def barrier(one, other):
    barrier_of_one = Barrier(one, "/barrier")
    barrier_of_one.create()
    assert not Barrier(other, "/barrier").wait(timeout=0.1)
    threading.Timer(0.1, barrier_of_one.remove).start()
    assert Barrier(other, "/barrier").wait(timeout=LIMIT)


def double_barrier(one, other):
    passed = []
    # Kazoo's member misses a "ready" that was there before it looked. It waits forever if the other has left by then.
    both_inside = threading.Barrier(2)

    def go(zk):
        both = DoubleBarrier(zk, "/double-barrier", 2)
        both.enter()
        passed.append("in")
        both_inside.wait(LIMIT)
        both.leave()
        passed.append("out")

    finish([threading.Thread(target=go, args=(zk,), daemon=True) for zk in (one, other)])
    assert passed.count("in") == passed.count("out") == 2 and passed.index("out") > passed.index("in")


def queue(one, other):
    for item in (b"1", b"2", b"3"):
        Queue(one, "/queue").put(item)
    assert [Queue(other, "/queue").get() for _ in range(4)] == [b"1", b"2", b"3", None]


def locking_queue(one, other):
    LockingQueue(one, "/locking-queue").put_all([b"1", b"2"])
    waiting = LockingQueue(other, "/locking-queue")
    assert waiting.get(LIMIT) == b"1" and waiting.holds_lock()
    assert LockingQueue(one, "/locking-queue").get(LIMIT) == b"2"
    assert waiting.consume()


def counter(one, other):
    def add(zk):
        of_all = Counter(zk, "/counter")
        for _ in range(20):
            of_all += 1

    finish([threading.Thread(target=add, args=(zk,), daemon=True) for zk in (one, other)])
    assert Counter(one, "/counter").value == 40


def party(one, other):
    member = Party(one, "/party", "one")
    member.join()
    assert list(Party(other, "/party")) == ["one"]
    member.leave()


def watchers(one, other):
    seen, changed = [], threading.Event()
    one.ensure_path("/watched")

    @other.ChildrenWatch("/watched")
    def told(children):
        seen.append(sorted(children))
        if seen[-1] == ["a", "b"]:
            changed.set()

    one.create("/watched/a", ephemeral=True)
    one.create("/watched/b", ephemeral=True)
    assert changed.wait(LIMIT), seen


def transactions(one, other):
    with one.transaction() as good:
        good.create("/both", b"x")
        good.set_data("/both", b"y")
        good.check("/both", 1)
    assert other.get("/both")[0] == b"y"
    bad = one.transaction()
    bad.delete("/both")
    bad.create("/no/parent")
    assert [type(result) for result in bad.commit()] == [RolledBackError, NoNodeError] and other.exists("/both")


def permissions(one, other):
    mine = make_digest_acl("ann", "secret", all=True)
    known = client(auth_data=[("digest", "ann:secret")], default_acl=[mine])
    known.create("/private", b"x")
    assert known.get("/private")[0] == b"x"
    try:
        other.get("/private")
        raise AssertionError("read by a stranger")
    except Exception as error:
        assert type(error).__name__ == "NoAuthError", error
    known.stop()


def reconnect(one, other):
    held = Lock(one, "/locks/kept")
    held.acquire()
    one._connection._socket.shutdown(socket.SHUT_RDWR)
    assert one.retry(one.exists, "/locks/kept").children_count == 1
    held.release()


RECIPES = (lock, read_write_lock, semaphore, election, barrier, double_barrier, queue, locking_queue, counter, party)
OTHERS = (watchers, transactions, permissions, reconnect)

one, other = client(), client()
assert one.server_version()[:2] == (3, 8)
for recipe in RECIPES + OTHERS:
    recipe(one, other)
    print(recipe.__name__, flush=True)
one.stop()
other.stop()
