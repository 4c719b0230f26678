import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NEVER } from '../../../../lib/async/abort.js';
import { LockUnavailableError } from '../../../../lib/contract/errors.js';
import { UNCHANGED } from '../../../../lib/contract/record-store.js';
import type { RecordChange, RecordWrite } from '../../../../lib/contract/record-store.js';
import { RecordWriting } from '../../../../lib/zookeeper/recipes/record-write.js';
import type { WriteSession } from '../../../../lib/zookeeper/recipes/record-write.js';
import { ErrorCode, isConnectionLoss, KeeperError } from '../../../../lib/zookeeper/session/requests.js';
import type { MultiOp, Requests } from '../../../../lib/zookeeper/session/requests.js';
import { ZnodeTree } from './znode-tree.js';

/** What becomes of one transaction on its way, and what others write before the next request. */
interface Event {
  readonly fate: 'answered' | 'lost on the way' | 'reply lost';
  readonly others: readonly RecordChange[];
}

/** A session over a tree of znodes; as in life, others write at any time and connections break at any time. */
class ScriptedSession implements WriteSession {
  readonly tree = new ZnodeTree();
  readonly requests: { -readonly [Name in keyof Requests]: Requests[Name] };
  /** How often a transaction was applied that says something. */
  applied = 0;
  #events: Event[] = [];
  #isScripted = false;

  constructor() {
    const notAsked = () => Promise.reject(new Error('no record needs that'));
    this.requests = {
      create: notAsked,
      delete: notAsked,
      children: notAsked,
      watch: notAsked,
      watchData: notAsked,
      watchExistence: notAsked,
      watchChildren: notAsked,
      sync: async () => {},
      read: async (path) => this.tree.read(path),
      multi: (ops) => this.#multi(ops),
    };
  }

  async whenConnected(): Promise<void> {}

  async persistently<T>(request: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await request();
      } catch (error) {
        if (!isConnectionLoss(error)) throw error;
      }
    }
  }

  play(events: readonly Event[]): void {
    this.#events = [...events];
    this.#isScripted = true;
  }

  async #multi(ops: readonly MultiOp[]) {
    const { fate, others } = this.#events.shift() ?? { fate: 'answered', others: [] };
    const isOurs = this.#isScripted;
    const reply = fate === 'lost on the way' ? undefined : this.tree.multi(ops);
    if (isOurs && reply?.isApplied && ops.some((op) => 'data' in op && op.data.length > 0)) this.applied++;
    this.#isScripted = false;
    for (const other of others) await write(this, [other]);
    this.#isScripted = isOurs;
    if (fate !== 'answered' || !reply) throw new KeeperError(ErrorCode.connectionLoss);
    return { results: reply.results, zxid: 0n };
  }
}

function write(session: WriteSession, changes: readonly RecordChange[]): Promise<RecordWrite> {
  return new RecordWriting(
    changes.map((change) => ({ ...change, path: `/r/${change.name}` })),
    [],
  ).on(session, NEVER);
}

// Few names and values, so that others often write the very same.
const name = fc.constantFrom('a', 'a/b', 'c');
const value = fc.constantFrom('1', '2', undefined);
const before = fc
  .uniqueArray(fc.record({ name, value: fc.constantFrom('1', '2') }), { selector: (one) => one.name })
  .map((all) => all.sort((a, b) => (a.name < b.name ? -1 : 1)));
const ifVersion = fc.constantFrom(undefined, 'absent' as const, 0, 1);
const change = fc
  .record({ name, value: fc.oneof(value, fc.constant(UNCHANGED)), ifVersion })
  .map(({ ifVersion: version, ...rest }): RecordChange =>
    version === undefined ? rest : { ...rest, ifVersion: version },
  );
const changes = fc.uniqueArray(change, { minLength: 1, selector: (one) => one.name });
// Nobody removes and makes anew: then a version alone does not tell what came before.
const event = fc.record({
  fate: fc.constantFrom('answered', 'lost on the way', 'reply lost'),
  others: fc.array(fc.record({ name, value: fc.constantFrom('1', '2') }), { maxLength: 2 }),
});

/** A session over these records. */
async function opened(records: readonly RecordChange[]): Promise<ScriptedSession> {
  const session = new ScriptedSession();
  for (const one of records) await write(session, [one]);
  return session;
}

/** The changes that ask for what is not so, when nothing but `first` has been written. */
function violated(first: readonly RecordChange[], wanted: readonly RecordChange[]): RecordChange[] {
  const isThere = (of: string) => first.some((one) => one.name === of);
  return wanted.filter(({ name: of, ifVersion: version }) => {
    if (version === undefined) return false;
    return version === 'absent' ? isThere(of) : version > 0 || !isThere(of);
  });
}

describe('a write of records', () => {
  it('is what it says, whatever is lost and whatever others write', async () => {
    const events = fc.array(event, { maxLength: 4 });
    const property = fc.asyncProperty(before, changes, events, async (first, wanted, script) => {
      const session = await opened(first);
      session.play(script);
      const outcome = await write(session, wanted).catch((error: unknown) => error);
      // A removal leaves no trace: others may have made the record anew, or removed it as well.
      const leavesTrace = !wanted.some((one) => one.value === undefined && one.ifVersion !== undefined);
      if (outcome instanceof LockUnavailableError) {
        const isOthers = script.some(({ others }) => others.length > 0) || violated(first, wanted).length > 0;
        expect(script.some(({ fate }) => fate !== 'answered')).toBe(true);
        if (leavesTrace) expect(isOthers).toBe(true);
      } else if ((outcome as RecordWrite).isApplied) {
        const isOnce = wanted.some((one) => one.ifVersion !== undefined && typeof one.value === 'string');
        if (isOnce) expect(session.applied).toBe(1);
      } else {
        expect(outcome).toMatchObject({ isApplied: false });
        if (leavesTrace) expect(session.applied).toBe(0);
      }
    });
    await fc.assert(property, { numRuns: 2_000 });
  });

  it('is known to the last when nothing is lost: as the records were, or a conflict', async () => {
    const property = fc.asyncProperty(before, changes, async (first, wanted) => {
      // The version of a znode that only leads to others is nobody's to guess.
      fc.pre(!first.some((one) => one.name === 'a/b') || first.some((one) => one.name === 'a'));
      const outcome = await write(await opened(first), wanted);
      const conflicts = violated(first, wanted).map((one) => one.name);
      if (!outcome.isApplied) {
        expect(conflicts).toContain(outcome.conflict);
        return;
      }
      const written = wanted.filter((one) => typeof one.value === 'string');
      expect(conflicts).toEqual([]);
      expect(outcome.records).toMatchObject(written.map((one) => ({ name: one.name, value: one.value })));
    });
    await fc.assert(property, { numRuns: 1_000 });
  });

  it('tells what the servers refuse for another reason', async () => {
    const session = await opened([]);
    session.requests.multi = async () => ({ results: [{ error: ErrorCode.noAuth }], zxid: 0n });
    await expect(write(session, [{ name: 'a', value: '1' }])).rejects.toMatchObject({ code: ErrorCode.noAuth });
  });
});
