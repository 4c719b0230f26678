import { describe, expect, it, onTestFinished } from 'vitest';
import { RedisServer } from '../../lib/testing/index.js';
import { clientsOf } from './support/clients.js';

const open = clientsOf({ restartDelayMs: 0 });

async function start(settings: Readonly<Record<string, string | number>> = {}): Promise<RedisServer> {
  const server = await RedisServer.start({ settings });
  onTestFinished(() => server.stop());
  return server;
}

async function guaranteesOn(server: RedisServer, access = {}) {
  const backend = open(server.url, access);
  await backend.connect();
  return backend.guarantees;
}

const ALWAYS = { appendonly: 'yes', appendfsync: 'always' };
const ON_DISK = expect.stringMatching(/^set appendonly to yes and appendfsync to always/) as unknown;
const ON_REPLICA = expect.stringMatching(/^set min-replicas-to-write to 1/) as unknown;

describe('the guarantees of a Redis server', () => {
  it('are those of one server, and of the settings for a restart', async () => {
    const server = await start();
    const common = { decidedBy: 'one server', clocks: 'those of clients and of the server', writtenAt: 'server' };
    expect(await guaranteesOn(server)).toMatchObject({ ...common, failOver: 'a held key may be granted again' });
    const settling = await guaranteesOn(server, { restartDelayMs: 2_000 });
    expect(settling).toMatchObject({ ...common, failOver: 'no free key for one session timeout' });
  });

  it.each<Readonly<Record<string, string>>>([
    { appendonly: 'no' },
    { appendonly: 'yes', appendfsync: 'everysec' },
    { save: '60 1' },
  ])('say with %o that writes may be lost, and what to set', async (settings) => {
    expect(await guaranteesOn(await start(settings))).toMatchObject({ records: 'may be lost', advice: [ON_DISK] });
  });

  it('say that writes last when each is on disk before its answer', async () => {
    expect(await guaranteesOn(await start(ALWAYS))).toMatchObject({ records: 'durable', advice: [] });
  });

  it('say with a replica that writes may be lost, and name min-replicas-to-write until it is set', async () => {
    const server = await start(ALWAYS);
    await start({ replicaof: `127.0.0.1 ${server.port}` });
    await expect.poll(() => server.ask('INFO', 'replication')).toContain('connected_slaves:1');
    expect(await guaranteesOn(server)).toMatchObject({ records: 'may be lost', advice: [ON_REPLICA] });
    await server.ask('CONFIG', 'SET', 'min-replicas-to-write', '1');
    expect(await guaranteesOn(server)).toMatchObject({ records: 'may be lost', advice: [] });
  });

  it('say where CONFIG is refused that the settings are not known', async () => {
    const server = await start(ALWAYS);
    await server.ask('ACL', 'SETUSER', 'app', 'on', '>app', '~*', '&*', '+@all', '-config');
    expect(await guaranteesOn(server, { username: 'app', password: 'app' })).toMatchObject({
      records: 'may be lost',
      advice: [expect.stringContaining('refuses CONFIG GET')],
    });
  });
});
