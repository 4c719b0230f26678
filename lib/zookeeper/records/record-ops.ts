import { UNCHANGED } from '../../contract/record-store.js';
import type { RecordChange } from '../../contract/record-store.js';
import { CreateMode } from '../session/requests.js';
import type { Acl, MultiOp, MultiResult } from '../session/requests.js';
import { withAncestors } from '../session/znode-path.js';
import { DIRECTORY, recordData } from './record-node.js';
import type { Sight } from './record-node.js';

/** A change, where its record is, and what was seen there; `undefined` before anybody has looked. */
export interface PlacedChange extends RecordChange {
  readonly path: string;
  readonly sight?: Sight | undefined;
}

/** What the znodes of one write are made with. */
interface WriteTools {
  readonly acl: readonly Acl[];
  readonly writeId: string;
}

/** Whether the record is as the change wants it. */
export function isAsExpected({ ifVersion }: RecordChange, { record }: Sight): boolean {
  if (ifVersion === undefined) return true;
  return ifVersion === 'absent' ? record === undefined : record?.version === ifVersion;
}

/** Whether the change makes a znode where none was seen. */
export function mayCreate({ value, ifVersion, sight }: PlacedChange): boolean {
  return sight?.version === undefined && (typeof value === 'string' || ifVersion === 'absent');
}

/**
 * The operations that make the change, the one with the record's new stat first. They are refused unless the record is
 * as expected; also when it is not as it was seen, or guessed before anybody has looked.
 * @param isParent whether the same transaction makes znodes below
 */
function opsOf(change: PlacedChange, isParent: boolean, tools: WriteTools): MultiOp[] {
  const { value, ifVersion } = change;
  if (typeof value === 'string') return [writeOp(change, value, tools)];
  const isCheck = value === UNCHANGED || ifVersion === 'absent';
  return isCheck ? checkOps(change, isParent, tools) : removeOps(change, isParent);
}

function createOp(path: string, data: Buffer, acl: readonly Acl[]): MultiOp {
  return { type: 'create2', path, data, acl, flags: CreateMode.persistent };
}

function writeOp({ path, ifVersion, sight }: PlacedChange, value: string, { acl, writeId }: WriteTools): MultiOp {
  const data = recordData(value, writeId);
  const isThere = sight ? sight.version !== undefined : ifVersion !== 'absent';
  if (!isThere) return createOp(path, data, acl);
  // A directory has a version of its own, which nobody but this write knows.
  const version = sight && !sight.record ? sight.version : versionOf(ifVersion);
  return { type: 'setData', path, data, version };
}

function removeOps({ path, ifVersion, sight }: PlacedChange, isParent: boolean): MultiOp[] {
  if (sight && !sight.record) return [];
  const version = versionOf(ifVersion);
  const stays = isParent || sight?.hasChildren;
  return stays ? [{ type: 'setData', path, data: DIRECTORY, version }] : [{ type: 'delete', path, version }];
}

function checkOps({ path, ifVersion, sight }: PlacedChange, isParent: boolean, { acl }: WriteTools): MultiOp[] {
  if (ifVersion === undefined) return [];
  const version = ifVersion === 'absent' ? sight?.version : ifVersion;
  if (version !== undefined) return [{ type: 'check', path, version }];
  const created = createOp(path, DIRECTORY, acl);
  // ZooKeeper has no check for what is not there; a create that is taken back at once is one.
  return isParent ? [created] : [created, { type: 'delete', path }];
}

function versionOf(ifVersion: RecordChange['ifVersion']): number | undefined {
  return typeof ifVersion === 'number' ? ifVersion : undefined;
}

interface Step {
  readonly path: string;
  readonly ops: readonly MultiOp[];
  /** `undefined` of a parent. */
  readonly change?: PlacedChange;
}

/** The operations of one write in an order that can be applied, and whose results are whose. */
export class RecordTransaction {
  readonly ops: readonly MultiOp[];
  readonly #steps: readonly Step[];

  /** @param parents the znodes that have to be made above those of the changes */
  constructor(changes: readonly PlacedChange[], parents: readonly string[], tools: WriteTools) {
    const created = new Set(changes.filter(mayCreate).map(({ path }) => path));
    const above = new Set([...created].flatMap((path) => withAncestors(path).slice(1)));
    const parentsOnly = parents.filter((path) => !created.has(path));
    this.#steps = [
      ...parentsOnly.map((path): Step => ({ path, ops: [createOp(path, DIRECTORY, tools.acl)] })),
      ...changes.map((change) => ({ path: change.path, change, ops: opsOf(change, above.has(change.path), tools) })),
    ].sort(inOrder);
    this.ops = this.#steps.flatMap(({ ops }) => ops);
  }

  /** The results of each change, of which some have none. */
  resultsByChange(results: readonly MultiResult[]): Map<PlacedChange, readonly MultiResult[]> {
    const byChange = new Map<PlacedChange, readonly MultiResult[]>();
    let first = 0;
    for (const { change, ops } of this.#steps) {
      const next = first + ops.length;
      if (change) byChange.set(change, results.slice(first, next));
      first = next;
    }
    return byChange;
  }
}

/** What is made goes from the top down, what is deleted after it and from the bottom up. */
function inOrder(a: Step, b: Step): number {
  const [isDeleteA, isDeleteB] = [isDelete(a), isDelete(b)];
  if (isDeleteA !== isDeleteB) return isDeleteA ? 1 : -1;
  return isDeleteA ? b.path.length - a.path.length : a.path.length - b.path.length;
}

function isDelete({ ops }: Step): boolean {
  return ops[0]?.type === 'delete';
}
