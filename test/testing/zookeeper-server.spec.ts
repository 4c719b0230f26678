import { existsSync } from 'node:fs';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { describe, expect, inject, it, vi } from 'vitest';
import { ZooKeeperServer } from '../../lib/testing/index.js';

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe('ZooKeeperServer', () => {
  it('serves on loopback under its connect string, and is gone after stop()', async () => {
    const server = await ZooKeeperServer.start();
    const pid = server.pid!;
    expect(server.connectString).toBe(`127.0.0.1:${server.port}`);
    expect(await server.ask('ruok')).toBe('imok');
    expect(await server.ask('conf')).toContain('tickTime=500');
    const dataDir = /dataDir=(.*)\/data\/version-2/.exec(await server.ask('conf'))![1]!;
    expect(existsSync(dataDir)).toBe(true);
    await server.stop();
    expect([isRunning(pid), existsSync(dataDir), server.pid]).toEqual([false, false, undefined]);
    await expect(server.ask('ruok')).rejects.toThrow(/ECONNREFUSED/);
  });

  it('starts again after a crash, on the same port and with its data', async () => {
    await using server = await ZooKeeperServer.start();
    const { port, pid } = server;
    const zxid = await lastZxid(server);
    await server.kill();
    expect(server.pid).toBeUndefined();
    await server.restart();
    expect(server.port).toBe(port);
    expect(server.pid).not.toBe(pid);
    expect(await lastZxid(server)).toBe(zxid);
    await server.restart();
    expect(await server.ask('ruok')).toBe('imok');
  });

  it('does not answer while it is frozen, and answers pending requests once thawed', async () => {
    await using server = await ZooKeeperServer.start();
    await server.freeze();
    const answered = vi.fn();
    const answer = server.ask('ruok').finally(answered);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(answered).not.toHaveBeenCalled();
    await server.thaw();
    expect(await answer).toBe('imok');
    await server.freeze();
    await server.stop();
  });

  it('passes its options on to the server', async () => {
    await using server = await ZooKeeperServer.start({
      tickTimeMs: 700,
      containerCheckIntervalMs: 1234,
      systemProperties: { 'jute.maxbuffer': '4194304' },
    });
    const configuration = await server.ask('conf');
    expect(configuration).toContain('tickTime=700');
    expect(configuration).toContain('minSessionTimeout=1400');
    const commandLine = execFileSync('ps', ['-o', 'args=', '-p', String(server.pid)]).toString();
    expect(commandLine).toContain('-Dznode.container.checkIntervalMs=1234');
    expect(commandLine).toContain('-Djute.maxbuffer=4194304');
  });

  it('reports why it did not start, with the end of its log', async () => {
    const stranger = createServer().listen(0, '127.0.0.1');
    await once(stranger, 'listening');
    const { port } = stranger.address() as AddressInfo;
    await expect(ZooKeeperServer.start({ port })).rejects.toThrow(/did not start on port[^]*Address already in use/);
    stranger.close();
  });

  it('fails to start when another server has its port', async () => {
    await using first = await ZooKeeperServer.start();
    await expect(ZooKeeperServer.start({ port: first.port })).rejects.toThrow(/did not start/);
    expect(await first.ask('ruok')).toBe('imok');
  });

  it.each(['SIGTERM', 'SIGINT', 'SIGKILL'] as const)('ends with its parent, however that ends: %s', async (signal) => {
    const parent = spawn(process.execPath, ['--input-type=module', '-e', PARENT], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(parent, 'exit').then(() => Promise.reject(new Error('it did not start: is there a build?')));
    const [line] = (await Promise.race([once(createInterface(parent.stdout), 'line'), ended])) as [string];
    const { pid, dataDir } = JSON.parse(line) as { pid: number; dataDir: string };
    expect([isRunning(pid), existsSync(dataDir)]).toEqual([true, true]);
    parent.kill(signal);
    await vi.waitFor(() => expect([isRunning(pid), existsSync(dataDir)]).toEqual([false, false]), 20_000);
  });

  it('is the server that the integration tests use', () => {
    expect(inject('zookeeper')).toMatch(/:\d+/);
  });
});

// The built package, because a plain Node process cannot run the sources.
const PARENT = `
  import { ZooKeeperServer } from 'nestjs-distributed-lock/testing';
  const server = await ZooKeeperServer.start();
  const [, dataDir] = /dataDir=(.*)\\/data\\/version-2/.exec(await server.ask('conf'));
  console.log(JSON.stringify({ pid: server.pid, dataDir }));
  setInterval(() => {}, 1000);
`;

async function lastZxid(server: ZooKeeperServer): Promise<string> {
  return /Zxid: (.*)/.exec(await server.ask('srvr'))![1]!;
}
