"""Lets callers, a thread each, take locks and give them back until the window has ended."""

import threading
import time
from array import array


def run_loop(locks, order):
    keys, numbers = order["keys"], order["locks"]
    logs, threads, failures = [], [], []
    for caller in range(order["callers"]):
        locker_of, log = locker_function(locks, keys[caller % len(keys)], order["areKeysNew"]), array("d")
        number = numbers[caller % len(numbers)]
        logs.append(log)
        threads.append(threading.Thread(target=guarded_call, args=(failures, locker_of, number, order, log)))
    for thread in threads:
        thread.start()
    marks = [mark(order["beginAt"]), mark(order["endAt"])]
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    with open(order["file"], "wb") as file:
        for log in logs:
            log.tofile(file)
    return {"marks": marks}


def locker_function(locks, key, are_keys_new):
    """Gives the lock of a caller's n-th acquisition."""
    if are_keys_new:
        return lambda count: locks.locker(f"{key}/{count}")
    locker = locks.locker(key)
    return lambda count: locker


def guarded_call(failures, *args):
    try:
        call(*args)
    except Exception as error:
        failures.append(error)


def call(locker_of, number, order, log):
    inside_ms, lingers, end_at = order["insideMs"], order["lingers"], order["endAt"]
    pause_ms = order["pauseMs"]
    asked = time.monotonic_ns()
    count = 0
    while count == 0 or asked < end_at:
        stay_ms = max(inside_ms, lingers["ms"]) if count < lingers["times"] else inside_ms
        count += 1
        locker = locker_of(count)
        locker.acquire()
        begin = time.monotonic_ns()
        if stay_ms > 0:
            time.sleep(stay_ms / 1000)
        end = time.monotonic_ns()
        locker.release()
        released = time.monotonic_ns()
        # The fields of support/tenure-file.ts; kazoo's read-write lock is not run (see shapes.ts).
        log.extend((number, 0, asked, begin, end, released))
        if pause_ms > 0:
            time.sleep(pause_ms / 1000)
        asked = time.monotonic_ns() if pause_ms > 0 else released


def mark(at):
    time.sleep(max(0, at - time.monotonic_ns()) / 1e9)
    return {"at": time.monotonic_ns(), "cpuUs": time.process_time_ns() / 1000}
