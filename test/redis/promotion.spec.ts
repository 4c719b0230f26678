import { connect, createServer } from 'node:net';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { NEVER } from '../../lib/async/abort.js';
import { deferred } from '../../lib/async/deferred.js';
import { LinkLostError, RefusedError } from '../../lib/redis/client/redis-error.js';
import { RedisLink } from '../../lib/redis/client/redis-link.js';
import { LEAVE } from '../../lib/redis/scripts/lock-scripts.js';
import { ADOPT, JOIN } from '../../lib/redis/scripts/session-scripts.js';
import { RedisKeys } from '../../lib/redis/session/redis-keys.js';
import { SessionLeases } from '../../lib/sessions/session-leases.js';
import { FaultProxy, RedisServer } from '../../lib/testing/index.js';
import { clientsOf, hold, requestFor, SESSION_MS, settlingSeenBy } from './support/clients.js';
import { linkTo, ScriptSession } from './support/script-session.js';

/** Clients find the next server within the session, also on a busy machine. */
const TIMES = { sessionTimeoutMs: 3 * SESSION_MS, restartDelayMs: SESSION_MS };

let open: ReturnType<typeof clientsOf>;

beforeEach(() => {
  open = clientsOf({});
});

async function start(): Promise<RedisServer> {
  const server = await RedisServer.start({ settings: { 'repl-diskless-sync-delay': 0 } });
  onTestFinished(() => server.stop());
  return server;
}

/** Opens a proxy on the port of a server that has ended, which leads to another one. */
async function movedTo(server: RedisServer, port: number): Promise<{ close(): Promise<void> }> {
  const relay = createServer((client) => {
    const target = connect(server.port, '127.0.0.1');
    for (const socket of [client, target]) socket.on('error', () => {});
    client.pipe(target).pipe(client);
    onTestFinished(() => void client.destroy());
  });
  await new Promise<void>((resolve) => relay.listen(port, '127.0.0.1', resolve));
  return { close: async () => void relay.close() };
}

/** Lets the first adoption be carried out, and its link be closed before the answer. Counts the others' answers. */
function losingTheFirstAdoption(): { readonly answered: number } {
  const { run } = RedisLink.prototype;
  const seen = { sent: 0, answered: 0 };
  const spy = vi.spyOn(RedisLink.prototype, 'run').mockImplementation(async function (this: RedisLink, call) {
    const isFirst = call.script === ADOPT && seen.sent++ === 0;
    const answer = await run.call(this, call);
    if (call.script === ADOPT && !isFirst) seen.answered++;
    if (!isFirst) return answer;
    this.close('the answer was lost');
    throw new LinkLostError('the answer was lost');
  });
  onTestFinished(() => spy.mockRestore());
  return seen;
}

/** Lets adoptions be carried out, and holds their answers back. */
function holdingAdoptionsBack(): { readonly carriedOut: Promise<void>; letGo(): void } {
  const { run } = RedisLink.prototype;
  const [carriedOut, free] = [deferred(), deferred()];
  const spy = vi.spyOn(RedisLink.prototype, 'run').mockImplementation(async function (this: RedisLink, call) {
    const answer = await run.call(this, call);
    if (call.script !== ADOPT) return answer;
    carriedOut.resolve();
    await free.promise;
    return answer;
  });
  onTestFinished(() => spy.mockRestore());
  return { carriedOut: carriedOut.promise, letGo: () => free.resolve() };
}

describe('a replica that is promoted', () => {
  /** A server and its replica. The copying ends for ever on request: what is held back by then is lost. */
  async function replicated() {
    const [primary, replica] = [await start(), await start()];
    await (await hold(open(primary.url), 'settled')).release();
    const proxy = await FaultProxy.open(primary.port);
    onTestFinished(() => proxy.close());
    await replica.ask('REPLICAOF', '127.0.0.1', String(proxy.port));
    await expect.poll(() => replica.ask('INFO', 'replication')).toContain('master_link_status:up');
    return { primary, replica, endCopying: () => proxy.blackHole('toClient') };
  }

  it('without the last writes: the holder keeps its key, and adopts it', async () => {
    const { primary, replica, endCopying } = await replicated();
    // The port of the primary is taken over by a proxy to the replica.
    const { port } = primary;
    const [one, other] = [open(primary.url, TIMES), open(primary.url, TIMES)];
    await Promise.all([one.connect(), other.connect()]);
    endCopying();
    const lease = await hold(one, 'k');
    await primary.kill();
    await replica.ask('REPLICAOF', 'NO', 'ONE');
    const moved = await movedTo(replica, port);
    onTestFinished(() => moved.close());
    await expect.poll(() => [one.state, other.state, lease.state]).toEqual(['connected', 'connected', 'held']);
    const waiting = hold(other, 'k');
    await expect.poll(async () => (await one.lineOf('k')).map(({ state }) => state)).toEqual(['held', 'waiting']);
    expect(lease.isHeld()).toBe(true);
    await lease.release();
    expect((await waiting).fencingToken).toBeGreaterThan(lease.fencingToken);
  });

  it('and whose answer to the adoption is lost with its link: the hold is adopted once', async () => {
    const server = await start();
    const [one, other] = [open(server.url, TIMES), open(server.url, TIMES)];
    const lease = await hold(one, 'k');
    await other.connect();
    const adoptions = losingTheFirstAdoption();
    await server.ask('REPLICAOF', '127.0.0.1', '1');
    await server.ask('REPLICAOF', 'NO', 'ONE');
    await expect.poll(() => adoptions.answered).toBeGreaterThan(0);
    // A removal that follows the last adoption is sent before the second of these requests.
    await one.lineOf('k');
    await one.lineOf('k');
    expect(await other.lineOf('k')).toMatchObject([{ state: 'held' }]);
    expect(lease.isHeld()).toBe(true);
    await lease.release();
    expect(await other.lineOf('k')).toEqual([]);
  });

  it('and whose answer to the adoption comes after a removal by force: the holder hears of it', async () => {
    const server = await start();
    // The server has settled, and the former session lasts, when the answer comes.
    const settings = { restartDelayMs: 500, sessionTimeoutMs: 10 * SESSION_MS };
    const [one, other] = [open(server.url, settings), open(server.url, settings)];
    const lease = await hold(one, 'k');
    await other.connect();
    const adoptions = holdingAdoptionsBack();
    await server.ask('REPLICAOF', '127.0.0.1', '1');
    await server.ask('REPLICAOF', 'NO', 'ONE');
    await one.lineOf('k');
    await adoptions.carriedOut;
    await other.revoke?.('k', { graceMs: 0, signal: undefined });
    expect(await other.lineOf('k')).toEqual([]);
    adoptions.letGo();
    await expect.poll(() => lease.state).toBe('lost');
  });

  it('and where a later holder adopts the key: an earlier one hears that it is stale', async () => {
    const server = await start();
    const [link, keys] = [await linkTo(server.url), new RedisKeys('test/stale')];
    const join = () => new ScriptSession(link, keys).join({ settles: true });
    const [earlier, later] = [await join(), await join()];
    const queue = keys.queue('lock', 'k');
    expect(await earlier.run(ADOPT, queue, '10', earlier.entry(), earlier.entry(), '')).toEqual(['ADOPTED', 1]);
    expect(await later.run(ADOPT, queue, '11', later.entry(), later.entry(), '')).toEqual(['ADOPTED', 1]);
    await expect.poll(() => earlier.messages).toEqual(['x 2']);
    expect(later.messages).toEqual([]);
  });

  it('without the release: the key is granted when the former record is over', async () => {
    const { primary, replica, endCopying } = await replicated();
    const { port } = primary;
    const [one, other] = [open(primary.url, TIMES), open(primary.url, TIMES)];
    const first = await hold(one, 'k');
    await other.connect();
    await expect.poll(() => replica.ask('KEYS', '*:h:lock:k')).toContain('h:lock:k');
    endCopying();
    await first.release();
    const lease = await hold(other, 'k');
    await primary.kill();
    await replica.ask('REPLICAOF', 'NO', 'ONE');
    const moved = await movedTo(replica, port);
    onTestFinished(() => moved.close());
    await expect.poll(() => lease.state).toBe('held');
    await expect.poll(async () => (await other.lineOf('k')).length).toBe(1);
    expect(await other.lineOf('k')).toMatchObject([{ state: 'held', isOwn: true }]);
    await lease.release();
    await hold(one, 'k');
  });

  it.each([
    ['its own value', 'another value'],
    ['no value', undefined],
  ])('without the latest election: its leader has %s, and not that of the former leader', async (_what, value) => {
    const { primary, replica, endCopying } = await replicated();
    const { port } = primary;
    const [one, other] = [open(primary.url, TIMES), open(primary.url, TIMES)];
    const campaign = { ...requestFor('e'), label: 'one', value: 'a value' };
    const former = await one.elections?.campaign(campaign);
    await other.connect();
    await expect.poll(() => replica.ask('KEYS', '*:d:election:e')).toContain('d:election:e');
    endCopying();
    await former?.lease.release();
    const won = await other.elections?.campaign({ ...campaign, label: 'other', value });
    await primary.kill();
    await replica.ask('REPLICAOF', 'NO', 'ONE');
    const moved = await movedTo(replica, port);
    onTestFinished(() => moved.close());
    const leader = async () => (await one.elections?.look('e', NEVER))?.leader;
    await expect.poll(leader).toMatchObject({ id: 'other', value });
    expect(won?.lease.isHeld()).toBe(true);
  });

  it('and that settles: the places of a former session stay, for a removal may hand over what is held', async () => {
    const server = await start();
    const settings = { restartDelayMs: 60_000, sessionTimeoutMs: 60_000 };
    await (await hold(open(server.url, { restartDelayMs: 0 }), 'settled')).release();
    const [one, other] = [open(server.url, settings), open(server.url, settings)];
    await one.connect();
    await other.connect();
    const { run } = RedisLink.prototype;
    const left: unknown[] = [];
    const spy = vi.spyOn(RedisLink.prototype, 'run').mockImplementation(function (this: RedisLink, call) {
      if (call.script === LEAVE) left.push(...call.values.slice(3));
      return run.call(this, call);
    });
    onTestFinished(() => spy.mockRestore());
    await hold(one, 'k');
    hold(other, 'k').catch(() => {});
    await expect.poll(async () => (await one.lineOf('k')).length).toBe(2);
    const former = other.vitals?.().sessionId;
    await server.ask('REPLICAOF', '127.0.0.1', '1');
    await server.ask('REPLICAOF', 'NO', 'ONE');
    // A removal would be sent before the second of these requests.
    await other.lineOf('k');
    await other.lineOf('k');
    expect(other.vitals?.().sessionId).not.toBe(former);
    expect(left).toEqual([]);
  });

  it('and that refuses the next session: the connection is lost when the former one is over', async () => {
    const server = await start();
    const client = open(server.url, { sessionTimeoutMs: 1_000, restartDelayMs: 0 });
    const ended: string[] = [];
    const note = (message: string) => void (message.includes(' is over: ') && ended.push(message));
    client.logTo?.({ log: note, warn: note });
    const lease = await hold(client, 'k');
    const { run } = RedisLink.prototype;
    let attempts = 0;
    const refusing = vi.spyOn(RedisLink.prototype, 'run').mockImplementation(function (this: RedisLink, call) {
      if (call.script !== JOIN) return run.call(this, call);
      attempts++;
      return Promise.reject(new RefusedError('OOM', 'OOM command not allowed'));
    });
    onTestFinished(() => refusing.mockRestore());
    await server.ask('REPLICAOF', '127.0.0.1', '1');
    await server.ask('REPLICAOF', 'NO', 'ONE');
    // After a suspension of the machine, the timers of leases are late.
    const late = vi.spyOn(SessionLeases.prototype, 'check').mockImplementation(() => {});
    onTestFinished(() => late.mockRestore());
    await expect.poll(() => client.state).toBe('lost');
    expect(lease.state).toBe('lost');
    // Its end is told once, however many attempts follow.
    const before = attempts;
    await expect.poll(() => attempts).toBeGreaterThan(before + 1);
    expect(ended).toHaveLength(1);
    refusing.mockRestore();
    await expect.poll(() => client.state).toBe('connected');
  });

  it('is not used while it is a replica: the error says what to change', async () => {
    const { replica } = await replicated();
    const refused = open(replica.url).connect();
    await expect(refused).rejects.toMatchObject({
      code: 'LOCK_CONFIGURATION',
      message: expect.stringContaining('give the address of the primary'),
    });
  });

  it('by a primary that goes on: it is told that this is not safe', async () => {
    const { primary } = await replicated();
    const warnings: string[] = [];
    const client = open(primary.url);
    client.logTo?.({ log: () => {}, warn: (message) => warnings.push(message) });
    await client.connect();
    expect(warnings.join('\n')).toContain('min-replicas-to-write is not set');
    await primary.ask('CONFIG', 'SET', 'min-replicas-to-write', '1');
    const safe: string[] = [];
    const again = open(primary.url);
    again.logTo?.({ log: () => {}, warn: (message) => safe.push(message) });
    await again.connect();
    expect(safe).toEqual([]);
  });

  it('not yet: a first replica leaves every holder its key, and grants go on', async () => {
    const [primary, replica] = [await start(), await start()];
    const [one, other] = [open(primary.url, TIMES), open(primary.url, TIMES)];
    const lease = await hold(one, 'k');
    await other.connect();
    const settling = settlingSeenBy(other);
    await replica.ask('REPLICAOF', '127.0.0.1', String(primary.port));
    await expect.poll(() => replica.ask('INFO', 'replication')).toContain('master_link_status:up');
    await hold(other, 'free');
    expect(settling).toEqual([]);
    const waiting = hold(other, 'k');
    await expect.poll(async () => (await one.lineOf('k')).map(({ state }) => state)).toEqual(['held', 'waiting']);
    expect(lease.isHeld()).toBe(true);
    await lease.release();
    expect((await waiting).fencingToken).toBeGreaterThan(lease.fencingToken);
  });

  it('not yet: a release before the next session has begun leaves nothing in the way', async () => {
    const [primary, replica] = [await start(), await start()];
    // So long that no session of before ends within the test, and that no renewal finds the server.
    const settings = { restartDelayMs: 0, sessionTimeoutMs: 120_000 };
    const [one, other] = [open(primary.url, settings), open(primary.url, settings)];
    const lease = await hold(one, 'k');
    await other.connect();
    const identity = await primary.ask('INFO', 'replication');
    await replica.ask('REPLICAOF', '127.0.0.1', String(primary.port));
    const replid = /master_replid:\w+/.exec(identity)?.[0] ?? '';
    await expect.poll(() => primary.ask('INFO', 'replication')).not.toContain(replid);
    const { run } = RedisLink.prototype;
    const spy = vi.spyOn(RedisLink.prototype, 'run').mockImplementation(function (this: RedisLink, call) {
      if (call.script === JOIN) void lease.release();
      return run.call(this, call);
    });
    onTestFinished(() => spy.mockRestore());
    await one.lineOf('k');
    spy.mockRestore();
    // The removal is sent before this request.
    await one.lineOf('k');
    expect(await other.lineOf('k')).toEqual([]);
  });

  it.each(['that has found the server', 'whose release finds the server'])(
    'not yet: a first replica leaves no place of a former session in the way, behind a holder %s',
    async (which) => {
      const [primary, replica] = [await start(), await start()];
      // So long that no session of before ends within the test.
      const settings = { restartDelayMs: 0, sessionTimeoutMs: 60_000 };
      const [one, other] = [open(primary.url, settings), open(primary.url, settings)];
      const lease = await hold(one, 'k');
      const waiting = hold(other, 'k');
      await expect.poll(async () => (await one.lineOf('k')).length).toBe(2);
      const identity = await primary.ask('INFO', 'replication');
      await replica.ask('REPLICAOF', '127.0.0.1', String(primary.port));
      const replid = /master_replid:\w+/.exec(identity)?.[0] ?? '';
      await expect.poll(() => primary.ask('INFO', 'replication')).not.toContain(replid);
      if (which === 'that has found the server') {
        await other.lineOf('k');
        await one.lineOf('k');
      }
      await lease.release();
      expect((await waiting).fencingToken).toBeGreaterThan(lease.fencingToken);
    },
  );
});
