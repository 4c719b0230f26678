import { describe, expect, it, onTestFinished } from 'vitest';
import type { CoordinationService } from '../../../lib/index.js';
import { EmbeddedZooKeeper } from '../../../lib/testing/index.js';
import { freshBasePath } from '../../support/base-path.js';
import { openCoordination } from '../../support/coordination/services.js';

const UNKNOWN = { code: 'LOCK_UNAVAILABLE', message: expect.stringMatching(/cannot be known/) as string };

type Write = (service: CoordinationService) => Promise<unknown>;

/**
 * A service whose session ends together with the reply to its write, and other services that write before it is back.
 */
async function withDoomed() {
  const server = await EmbeddedZooKeeper.start();
  onTestFinished(() => server.stop());
  const options = { connectString: server.connectString, basePath: freshBasePath() };
  const doomed = await openCoordination(options);
  await valueOf(doomed).set('warm');
  const [session] = server.sessions();
  const other = await openCoordination(options);
  const path = `${options.basePath}/%values/test%2Fv`;
  const lose = async (isApplied: boolean, mine: Write, theirs: Write) => {
    const target = { op: 'create', path: /%writes/ } as const;
    const lost = isApplied ? server.loseReply(target) : server.loseRequest(target);
    const writing = mine(doomed);
    writing.catch(() => {});
    await lost;
    server.refuse();
    session?.expire();
    await theirs(other);
    server.heal();
    return writing;
  };
  return { server, other, path, lose };
}

function valueOf(service: CoordinationService, name = 'v') {
  return service.value(name, { initial: '' });
}

async function makeAnew(service: CoordinationService): Promise<void> {
  await valueOf(service).remove();
  await valueOf(service).set('theirs');
}

const nothing = async (): Promise<void> => {};

describe.each([
  ['applied', true],
  ['not applied', false],
])('a write that was %s, and whose session was lost with the reply,', (_, isApplied) => {
  it.each<[string, Write]>([
    ['sets', (service) => valueOf(service).set('mine')],
    ['sets on condition', (service) => valueOf(service).compareAndSet({ version: 0 }, 'mine')],
    ['updates', (service) => valueOf(service).update(() => 'mine')],
    ['removes', (service) => valueOf(service).remove()],
  ])('%s nothing over a later write of another client, and reports an unknown outcome', async (__, mine) => {
    const { other, lose } = await withDoomed();
    await expect(lose(isApplied, mine, (of) => valueOf(of).set('theirs'))).rejects.toMatchObject(UNKNOWN);
    expect((await valueOf(other).get()).value).toBe('theirs');
  });

  it.each<[string, number | 'absent', Write]>([
    ['made a value that was removed since', 'absent', (of) => valueOf(of, 'new').remove()],
    ['changed a value that was removed and made anew since', 0, makeAnew],
  ])('%s in the same version, is not made again: nobody knows', async (__, version, theirs) => {
    const { server, path, other, lose } = await withDoomed();
    const name = version === 'absent' ? 'new' : 'v';
    const writing = lose(
      isApplied,
      (of) => valueOf(of, name).compareAndSet({ version }, 'mine'),
      // Removing an absent value changes nothing.
      (of) => (version === 'absent' && !isApplied ? makeAnew(of) : theirs(of)),
    );
    await expect(writing).rejects.toMatchObject(UNKNOWN);
    if (version === 'absent') expect(server.znode(path.replace(/v$/, name))).toBeUndefined();
    else expect((await valueOf(other).get()).value).toBe('theirs');
  });

  it('succeeds when the value already is as intended', async () => {
    const { server, path, lose } = await withDoomed();
    await lose(
      isApplied,
      (of) => valueOf(of).set('mine'),
      (of) => valueOf(of).set('mine'),
    );
    expect(server.znode(path)?.stat.version).toBe(isApplied ? 2 : 1);
    await lose(
      isApplied,
      (of) => valueOf(of).remove(),
      (of) => valueOf(of).remove(),
    );
    expect(server.znode(path)).toBeUndefined();
  });

  it('counts once, or reports an unknown outcome', async () => {
    const { other, lose } = await withDoomed();
    await other.counter('c').set(4);
    const adding = lose(isApplied, (of) => of.counter('c').add(1), nothing);
    if (isApplied) await expect(adding).rejects.toMatchObject(UNKNOWN);
    else await adding;
    expect((await other.counter('c').get()).value).toBe(5);
  });
});

describe('a request that the servers have not answered in time', () => {
  it.each<[string, Write, string]>([
    ['a put', (of) => of.queue('q').put('item'), 'put into "q"'],
    ['a put that may wait', (of) => of.queue('q', { maxItems: 9 }).put('item', { waitMs: 5_000 }), 'put into "q"'],
    ['a write', (of) => of.value('q', { initial: '' }).set('mine'), '"q" was written'],
  ])('is reported as unknown if it was sent: %s', async (_, mine, what) => {
    const server = await EmbeddedZooKeeper.start();
    onTestFinished(() => server.stop());
    const basePath = freshBasePath();
    const times = { connectTimeoutMs: 2_000, releaseTimeoutMs: 60_000 };
    const service = await openCoordination({ connectString: server.connectString, basePath, ...times });
    await mine(service);
    const lost = server.loseReply({ op: 'create', path: /queue-|%writes/ });
    const writing = mine(service);
    writing.catch(() => {});
    await lost;
    server.refuse();
    const message = expect.stringMatching(/whether .* is not known/) as string;
    await expect(writing).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE', message, key: 'q' });
    await expect(writing).rejects.toThrow(what);
    await expect(mine(service)).rejects.not.toThrow(/not known/);
  });
});

describe('a lift whose reply was lost', () => {
  it.each([
    ['the connection', false],
    ['the session', true],
  ])('with %s does not lift a barrier that was raised again since', async (_, isExpired) => {
    const server = await EmbeddedZooKeeper.start();
    onTestFinished(() => server.stop());
    const options = { connectString: server.connectString, basePath: freshBasePath() };
    const doomed = await openCoordination(options);
    await doomed.barrier('b').raise();
    const [session] = server.sessions();
    const other = await openCoordination(options);
    const lost = server.loseReply({ op: 'delete', path: /%barriers/ });
    const lifting = doomed.barrier('b').lift();
    await lost;
    server.refuse();
    if (isExpired) session?.expire();
    await other.barrier('b').raise();
    server.heal();
    await lifting;
    expect(await other.barrier('b').isUp()).toBe(true);
    await doomed.barrier('b').lift();
    expect(await other.barrier('b').isUp()).toBe(false);
  });
});
