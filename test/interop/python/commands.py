"""
Does what the lines of the input say, until there are no more: `{"id", "verb", "thread", "params"}` is answered with
`{"id", "value"}` or `{"id", "error"}`. Commands of one thread run one after another, in a thread of their own.
"""

import json
import os
import queue
import sys
import threading
import traceback


class Commands:
    def __init__(self):
        self._handlers = {"ping": lambda params: "pong"}
        self._threads = {}
        self._output = threading.Lock()

    def on(self, verb, handler):
        """What a verb does: a function of the parameters, a dict. Its result is anything that JSON has."""
        self._handlers[verb] = handler
        return self

    def run(self):
        """Ends the process when the input ends, as it does when whoever started it is gone."""
        for line in sys.stdin:
            command = json.loads(line)
            self._thread_of(command.get("thread", "main")).put(command)
        os._exit(0)

    def _thread_of(self, name):
        if name not in self._threads:
            self._threads[name] = queue.Queue()
            threading.Thread(target=self._work, args=(self._threads[name],), name=name, daemon=True).start()
        return self._threads[name]

    def _work(self, commands):
        while True:
            self._carry_out(commands.get())

    def _carry_out(self, command):
        answer = {"id": command["id"]}
        try:
            answer["value"] = self._handlers[command["verb"]](command.get("params", {}))
        except BaseException:
            answer["error"] = traceback.format_exc()
        with self._output:
            print(json.dumps(answer), flush=True)
