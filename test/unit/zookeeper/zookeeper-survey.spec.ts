import { describe, expect, it } from 'vitest';
import { orAbort } from '../../../lib/async/abort.js';
import type { SurveyQuestion } from '../../../lib/contract/survey.js';
import { ErrorCode, KeeperError } from '../../../lib/zookeeper/session/requests.js';
import type { Session } from '../../../lib/zookeeper/session/session.js';
import { surveyOf } from '../../../lib/zookeeper/zookeeper-survey.js';

const TREE = { chroot: '', basePath: '/locks' };
const NEVER = new AbortController().signal;
const UUID = '00000000-0000-4000-a000-000000000000';
const lock = (number: number) => `_c_${UUID}-lock-${String(number).padStart(10, '0')}`;

/** A tree of znodes that answers one turn later, and counts the requests under way. */
class Znodes {
  readonly refused = new Set<string>();
  /** Deleted between the list that shows it and its read. */
  readonly vanishing = new Set<string>();
  readonly listed: string[] = [];
  mostAtOnce = 0;
  #running = 0;
  #isStuck = false;
  readonly #paths: readonly string[];

  constructor(paths: readonly string[]) {
    this.#paths = paths;
  }

  get session(): Session {
    const requests = { children: (path: string) => this.#children(path), read: (path: string) => this.#read(path) };
    const persistently = <T>(request: () => Promise<T>, signal: AbortSignal) => orAbort(request(), signal);
    return { id: 1n, requests, persistently } as unknown as Session;
  }

  stick(): void {
    this.#isStuck = true;
  }

  async #children(path: string): Promise<readonly string[]> {
    this.listed.push(path);
    await this.#answer(path);
    const above = path === '/' ? '/' : `${path}/`;
    const below = this.#paths
      .filter((one) => one.startsWith(above))
      .map((one) => one.slice(above.length).split('/')[0]);
    if (below.length === 0 && !this.#paths.includes(path)) throw new KeeperError(ErrorCode.noNode, path);
    return [...new Set(below)].map(String);
  }

  async #read(path: string) {
    await this.#answer(path);
    if (this.vanishing.has(path)) throw new KeeperError(ErrorCode.noNode, path);
    return { data: Buffer.from('{"host":"h","pid":7}'), stat: { ctime: 5n, czxid: 9n, ephemeralOwner: 1n } };
  }

  async #answer(path: string): Promise<void> {
    this.mostAtOnce = Math.max(this.mostAtOnce, ++this.#running);
    await new Promise(setImmediate);
    if (this.#isStuck) await new Promise(() => {});
    this.#running--;
    if (this.refused.has(path)) throw new KeeperError(ErrorCode.noAuth, path);
  }
}

function survey(znodes: Znodes, changes: Partial<SurveyQuestion> = {}, tree = TREE) {
  const bounds = { mostKeys: 200, mostContenders: 3, withinMs: 30_000, signal: NEVER };
  return surveyOf(znodes.session, tree, { ...bounds, ...changes });
}

const keysOf = async (znodes: Znodes, changes: Partial<SurveyQuestion> = {}, tree = TREE) =>
  (await survey(znodes, changes, tree)).keys.map(({ key }) => key).sort();

describe('a survey of znodes', () => {
  it('finds keys of any depth up to 16, and says that there may be more below', async () => {
    const path = (depth: number) => `/locks/${Array.from({ length: depth }, (_, at) => `d${at}`).join('/')}`;
    const fits = new Znodes([`${path(16)}/${lock(1)}`]);
    expect(await survey(fits)).toMatchObject({ keys: [{ key: path(16).slice(7) }], isTruncated: false });
    expect(await survey(new Znodes([`${path(17)}/${lock(1)}`]))).toMatchObject({ keys: [], isTruncated: true });
  });

  it('has 16 requests under way at most', async () => {
    const paths = Array.from({ length: 300 }, (_, at) => [
      `/locks/k${at}/${lock(1)}`,
      `/locks/k${at}/${lock(2)}`,
    ]).flat();
    const znodes = new Znodes(paths);
    expect((await survey(znodes, { mostKeys: 1_000 })).keys).toHaveLength(300);
    expect(znodes.mostAtOnce).toBe(16);
  });

  it('lists no further directories when it has enough keys', async () => {
    const znodes = new Znodes(Array.from({ length: 1_000 }, (_, at) => `/locks/k${at}/${lock(1)}`));
    const { keys, isTruncated } = await survey(znodes, { mostKeys: 50 });
    expect([keys.length, isTruncated]).toEqual([50, true]);
    expect(znodes.listed.length).toBeLessThan(100);
  });

  it('answers with what it has when its time is over', async () => {
    const znodes = new Znodes([`/locks/k/${lock(1)}`]);
    znodes.stick();
    expect(await survey(znodes, { withinMs: 20 })).toEqual({ keys: [], queues: [], isTruncated: true });
  });

  it('leaves out a key whose contenders are gone by the time it is read', async () => {
    const znodes = new Znodes([`/locks/gone/${lock(1)}`, `/locks/left/${lock(1)}`, `/locks/left/${lock(2)}`]);
    znodes.vanishing.add(`/locks/gone/${lock(1)}`).add(`/locks/left/${lock(1)}`);
    const { keys, isTruncated } = await survey(znodes);
    expect(keys).toMatchObject([{ key: 'left', holders: [], waiters: [{ state: 'waiting' }] }]);
    expect(isTruncated).toBe(false);
  });

  it('leaves out what it may not list, and says so', async () => {
    const znodes = new Znodes([`/locks/theirs/${lock(1)}`, `/locks/ours/${lock(1)}`]);
    znodes.refused.add('/locks/theirs');
    expect(await survey(znodes)).toMatchObject({ keys: [{ key: 'ours' }], isTruncated: true });
    znodes.refused.add('/locks');
    await expect(survey(znodes)).rejects.toThrow(KeeperError);
  });

  it('shows znodes of other kinds as no keys', async () => {
    const paths = ['/locks/a/config', '/locks/a/x-lock-7', '/locks/a/%zz', '/locks/a/__lock__0000000001', '/other/k'];
    expect(await survey(new Znodes(paths))).toEqual({ keys: [], queues: [], isTruncated: false });
  });

  it('writes keys as the application does', async () => {
    const paths = [
      `/locks/100%25/${lock(1)}`,
      `/locks/a/%6Cocks/${lock(1)}`,
      `/locks/leases/${lock(1)}`,
      `/locks/%segments/stock%2Fsku/0007/${lock(1)}`,
      `/locks/pdf/leases/_c_${UUID}-lease-0000000001`,
      `/locks/%elections/shop%2Fpoller/_c_${UUID}-latch-0000000001`,
      `/locks/%elections/shop%2Fpoller%candidates/${UUID}`,
      `/locks/%records/${lock(1)}`,
    ];
    const { keys } = await survey(new Znodes(paths));
    expect(keys.map(({ key, kind }) => `${kind} ${key}`).sort()).toEqual([
      'election shop/poller',
      'lock 100%',
      'lock a/locks',
      'lock leases',
      'lock stock/sku/#0007',
      'semaphore pdf',
    ]);
  });

  it('begins at its prefix', async () => {
    const paths = [`/locks/a/1/${lock(1)}`, `/locks/a/22/${lock(1)}`, `/locks/b/1/${lock(1)}`];
    const znodes = new Znodes([...paths, `/locks/%segments/a%2Fs/0001/${lock(1)}`]);
    expect(await keysOf(znodes, { prefix: 'a/' })).toEqual(['a/1', 'a/22', 'a/s/#0001']);
    expect(znodes.listed).not.toContain('/locks');
    expect(znodes.listed).not.toContain('/locks/b');
    expect(await keysOf(znodes, { prefix: 'a/2' })).toEqual(['a/22']);
    expect(await keysOf(znodes, { prefix: 'a//' })).toEqual([]);
  });

  it('takes a prefix with a slash for a path, also outside of the base path', async () => {
    const items = ['/app/queue/queue-0000000001', `/app/queue-takers/${lock(1)}`];
    const znodes = new Znodes([`/app/curator/${lock(1)}`, `/locks/a/${lock(1)}`, '/zookeeper/quota', ...items]);
    expect(await keysOf(znodes, { prefix: '/app/cur' })).toEqual(['/app/curator']);
    expect(await keysOf(znodes, { prefix: '/locks/' })).toEqual(['a']);
    expect(await keysOf(znodes, { prefix: '/locks' })).toEqual(['a']);
    const all = await survey(znodes, { prefix: '/' });
    expect(all.keys.map(({ key }) => key)).toEqual(['/app/curator']);
    expect(all.queues).toEqual([{ key: '/app/queue', items: 1 }]);
    expect(znodes.listed).not.toContain('/zookeeper');
  });

  it('looks below the chroot', async () => {
    const znodes = new Znodes([`/env/locks/a/${lock(1)}`, `/env/x/${lock(1)}`]);
    const tree = { chroot: '/env', basePath: '/locks' };
    expect(await keysOf(znodes, {}, tree)).toEqual(['a']);
    expect(await keysOf(znodes, { prefix: '/x' }, tree)).toEqual(['/x']);
    expect(await keysOf(znodes, {}, { chroot: '/env', basePath: '' })).toEqual(['locks/a', 'x']);
  });
});
