"""Answers pings, and nothing else."""

from commands import Commands


def fail(params):
    raise RuntimeError("as asked for")


Commands().on("echo", lambda params: params).on("fail", fail).run()
