"""ZooKeeper's C client, libzookeeper_mt, without its headers: the calls of it that the checks make."""

import ctypes
import queue
from ctypes import POINTER, byref, c_char, c_char_p, c_int, c_int32, c_int64, c_void_p

LIMIT = 30
EXPIRED, CONNECTED = -112, 3
CREATED, DELETED, CHANGED, CHILDREN, SESSION = 1, 2, 3, 4, -1
PERSISTENT, EPHEMERAL, EPHEMERAL_SEQUENTIAL, CONTAINER, WITH_TTL = 0, 1, 3, 4, 5
ANY_VERSION = -1
LONGEST = 1024


class Stat(ctypes.Structure):
    _fields_ = [
        ("czxid", c_int64),
        ("mzxid", c_int64),
        ("ctime", c_int64),
        ("mtime", c_int64),
        ("version", c_int32),
        ("cversion", c_int32),
        ("aversion", c_int32),
        ("ephemeral_owner", c_int64),
        ("data_length", c_int32),
        ("num_children", c_int32),
        ("pzxid", c_int64),
    ]


class Strings(ctypes.Structure):
    _fields_ = [("count", c_int32), ("data", POINTER(c_char_p))]


class Identity(ctypes.Structure):
    _fields_ = [("scheme", c_char_p), ("id", c_char_p)]


class Permission(ctypes.Structure):
    _fields_ = [("permissions", c_int32), ("identity", Identity)]


class Permissions(ctypes.Structure):
    _fields_ = [("count", c_int32), ("data", POINTER(Permission))]


class ClientId(ctypes.Structure):
    _fields_ = [("session", c_int64), ("password", c_char * 16)]


class Operation(ctypes.Structure):
    """Opaque: an int, and a union whose longest member, that of a create, has eight fields of a word each."""

    _fields_ = [("words", c_int64 * 9)]


class Result(ctypes.Structure):
    _fields_ = [("code", c_int), ("value", c_void_p), ("length", c_int), ("stat", c_void_p)]


class Refused(Exception):
    def __init__(self, code):
        super().__init__(f"the answer is {code}")
        self.code = code


def ok(code, *_):
    """The verdict on every call that answers with a code."""
    if code != 0:
        raise Refused(code)
    return code


Told = ctypes.CFUNCTYPE(None, c_void_p, c_int, c_int, c_char_p, c_void_p)
Done = ctypes.CFUNCTYPE(None, c_int, c_void_p)
try:
    library = ctypes.CDLL("libzookeeper_mt.so.2")
except OSError as error:
    raise SystemExit(f"{error}: apt-get install libzookeeper-mt2")
OPEN = Permissions.in_dll(library, "ZOO_OPEN_ACL_UNSAFE")
CREATOR_ALL = Permissions.in_dll(library, "ZOO_CREATOR_ALL_ACL")

HANDLE, PATH, TELL, BYTES = c_void_p, c_char_p, (Told, c_void_p), (c_char_p, c_int)
NEW = (PATH, *BYTES, POINTER(Permissions), c_int)
ANSWERED_BY_A_CODE = {
    "zookeeper_close": (),
    "zoo_create": (*NEW, *BYTES),
    "zoo_create2": (*NEW, *BYTES, POINTER(Stat)),
    "zoo_create2_ttl": (*NEW, c_int64, *BYTES, POINTER(Stat)),
    "zoo_delete": (PATH, c_int),
    "zoo_exists": (PATH, c_int, POINTER(Stat)),
    "zoo_wexists": (PATH, *TELL, POINTER(Stat)),
    "zoo_get": (PATH, c_int, c_char_p, POINTER(c_int), POINTER(Stat)),
    "zoo_wget": (PATH, *TELL, c_char_p, POINTER(c_int), POINTER(Stat)),
    "zoo_set2": (PATH, *BYTES, c_int, POINTER(Stat)),
    "zoo_get_children": (PATH, c_int, POINTER(Strings)),
    "zoo_wget_children2": (PATH, *TELL, POINTER(Strings), POINTER(Stat)),
    "zoo_remove_watches": (PATH, c_int, *TELL, c_int),
    "zoo_get_acl": (PATH, POINTER(Permissions), POINTER(Stat)),
    "zoo_set_acl": (PATH, c_int, POINTER(Permissions)),
    "zoo_add_auth": (c_char_p, *BYTES, Done, c_void_p),
    "zoo_multi": (c_int, POINTER(Operation), POINTER(Result)),
}
for name, arguments in ANSWERED_BY_A_CODE.items():
    call = getattr(library, name)
    call.argtypes, call.errcheck = (HANDLE, *arguments), ok
library.zookeeper_init.argtypes = (c_char_p, Told, c_int, POINTER(ClientId), c_void_p, c_int)
library.zookeeper_init.restype = HANDLE
library.zoo_client_id.argtypes = (HANDLE,)
library.zoo_client_id.restype = POINTER(ClientId)
library.zoo_set_debug_level(1)

OF_AN_OPERATION = {
    "create": (*NEW, *BYTES),
    "delete": (PATH, c_int),
    "set": (PATH, *BYTES, c_int, POINTER(Stat)),
    "check": (PATH, c_int),
}
for name, arguments in OF_AN_OPERATION.items():
    call = getattr(library, f"zoo_{name}_op_init")
    call.argtypes, call.restype = (POINTER(Operation), *arguments), None


class Watcher:
    """Keeps what it is told, until it is asked for. What the library calls must outlive the call that passed it."""

    def __init__(self):
        self.events = queue.Queue()
        self.function = Told(lambda _handle, kind, state, path, _context: self.events.put((kind, state, path)))

    def next(self):
        """The next event of a znode: every watch is also told of the session."""
        while True:
            kind, _, path = self.events.get(timeout=LIMIT)
            if kind != SESSION:
                return kind, path.decode()

    def reaches(self, wanted):
        """Waits until the session is in that state."""
        while True:
            kind, state, _ = self.events.get(timeout=LIMIT)
            if (kind, state) == (SESSION, wanted):
                return

    def is_silent(self):
        return self.events.empty()


class Client:
    """A handle, which is a session."""

    def __init__(self, hosts, timeout_ms=10_000):
        self.session = Watcher()
        self.handle = library.zookeeper_init(hosts.encode(), self.session.function, timeout_ms, None, None, 0)
        assert self.handle, "no handle"
        self.session.reaches(CONNECTED)

    @property
    def id(self):
        return library.zoo_client_id(self.handle).contents.session

    def close(self):
        library.zookeeper_close(self.handle)

    def create(self, path, data=b"", mode=PERSISTENT, acl=OPEN):
        created = ctypes.create_string_buffer(LONGEST)
        library.zoo_create(self.handle, path.encode(), data, len(data), byref(acl), mode, created, LONGEST)
        return created.value.decode()

    def create_and_stat(self, path, data=b"", mode=PERSISTENT, ttl_ms=None):
        created, stat = ctypes.create_string_buffer(LONGEST), Stat()
        new = (self.handle, path.encode(), data, len(data), byref(OPEN), mode)
        if ttl_ms is None:
            library.zoo_create2(*new, created, LONGEST, byref(stat))
        else:
            library.zoo_create2_ttl(*new, ttl_ms, created, LONGEST, byref(stat))
        return created.value.decode(), stat

    def delete(self, path, version=ANY_VERSION):
        library.zoo_delete(self.handle, path.encode(), version)

    def exists(self, path, watcher=None):
        """Its stat, or None."""
        stat = Stat()
        try:
            if watcher is None:
                library.zoo_exists(self.handle, path.encode(), 0, byref(stat))
            else:
                library.zoo_wexists(self.handle, path.encode(), watcher.function, None, byref(stat))
        except Refused as refused:
            if refused.code != -101:
                raise
            return None
        return stat

    def get(self, path, watcher=None):
        data, length, stat = ctypes.create_string_buffer(LONGEST), c_int(LONGEST), Stat()
        filled = (data, byref(length), byref(stat))
        if watcher is None:
            library.zoo_get(self.handle, path.encode(), 0, *filled)
        else:
            library.zoo_wget(self.handle, path.encode(), watcher.function, None, *filled)
        # A length of -1 is a znode without data.
        return data.raw[: max(length.value, 0)], stat

    def set(self, path, data, version=ANY_VERSION):
        stat = Stat()
        library.zoo_set2(self.handle, path.encode(), data, len(data), version, byref(stat))
        return stat

    def children(self, path, watcher=None):
        names, stat = Strings(), Stat()
        if watcher is None:
            library.zoo_get_children(self.handle, path.encode(), 0, byref(names))
        else:
            library.zoo_wget_children2(
                self.handle, path.encode(), watcher.function, None, byref(names), byref(stat)
            )
        return sorted(names.data[at].decode() for at in range(names.count))

    def remove_watch(self, path, watcher, kind):
        library.zoo_remove_watches(self.handle, path.encode(), kind, watcher.function, None, 0)

    def permissions(self, path):
        acl, stat = Permissions(), Stat()
        library.zoo_get_acl(self.handle, path.encode(), byref(acl), byref(stat))
        listed = [acl.data[at] for at in range(acl.count)]
        return [(entry.permissions, entry.identity.scheme, entry.identity.id) for entry in listed]

    def permit(self, path, acl, version=ANY_VERSION):
        library.zoo_set_acl(self.handle, path.encode(), version, byref(acl))

    def authenticate(self, scheme, secret):
        answers = queue.Queue()
        done = Done(lambda code, _: answers.put(code))
        library.zoo_add_auth(self.handle, scheme, secret, len(secret), done, None)
        ok(answers.get(timeout=LIMIT))

    def transact(self, *operations):
        """The code of each; what a create has made. An operation is the name of it and what it takes."""
        count = len(operations)
        initialized, results = (Operation * count)(), (Result * count)()
        created = [ctypes.create_string_buffer(LONGEST) for _ in operations]
        for at, (name, *arguments) in enumerate(operations):
            last = (created[at], LONGEST) if name == "create" else (None,) if name == "set" else ()
            getattr(library, f"zoo_{name}_op_init")(byref(initialized[at]), *arguments, *last)
        try:
            library.zoo_multi(self.handle, count, initialized, results)
        except Refused:
            pass
        return [result.code for result in results], [made.value.decode() for made in created]
