import { UNCHANGED } from '../../contract/record-store.js';
import type { RecordChange } from '../../contract/record-store.js';
import { CreateMode } from '../session/requests.js';
import type { Acl, MultiOp, MultiResult } from '../session/requests.js';
import { withAncestors } from '../recipes/znode-path.js';
import { DIRECTORY, recordData } from './record-node.js';
import type { Sight } from './record-node.js';

/** A change, the path of its record, and the state that was seen there. That is `undefined` before the first look. */
export interface PlacedChange extends RecordChange {
  readonly path: string;
  readonly sight?: Sight | undefined;
}

/** The values that all znodes of one write are created with. */
interface WriteTools {
  readonly acl: readonly Acl[];
  readonly writeId: string;
}

/** Whether the record is as the change expects it. */
export function isAsExpected({ ifVersion }: RecordChange, { record }: Sight): boolean {
  if (ifVersion === undefined) return true;
  return ifVersion === 'absent' ? record === undefined : record?.version === ifVersion;
}

/** Whether the change creates a znode where none was seen. */
export function mayCreate({ value, ifVersion, sight }: PlacedChange): boolean {
  return sight?.version === undefined && (typeof value === 'string' || ifVersion === 'absent');
}

/**
 * The operations that make the change. The one with the record's new stat is first. They are refused unless the record
 * is as expected. They are also refused when it is not as it was seen, or as it was guessed before the first look.
 * @param isParent whether the same transaction creates znodes below
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
  // A directory has a version of its own, which only this write knows.
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
  // ZooKeeper has no check for absence. A create that is deleted again in the same transaction is one.
  return isParent ? [created] : [created, { type: 'delete', path }];
}

function versionOf(ifVersion: RecordChange['ifVersion']): number | undefined {
  return typeof ifVersion === 'number' ? ifVersion : undefined;
}

interface Step {
  readonly path: string;
  readonly ops: readonly MultiOp[];
  /** `undefined` for a parent. */
  readonly change?: PlacedChange;
}

/** The operations of one write in an order that can be applied, and the change that each result belongs to. */
export class RecordTransaction {
  readonly ops: readonly MultiOp[];
  readonly #steps: readonly Step[];

  /** @param parents the znodes to create above those of the changes */
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

  /** The results of each change. Some changes have none. */
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

/** The order of operations: creates from the top down, then deletes from the bottom up. */
function inOrder(a: Step, b: Step): number {
  const [isDeleteA, isDeleteB] = [isDelete(a), isDelete(b)];
  if (isDeleteA !== isDeleteB) return isDeleteA ? 1 : -1;
  return isDeleteA ? b.path.length - a.path.length : a.path.length - b.path.length;
}

function isDelete({ ops }: Step): boolean {
  return ops[0]?.type === 'delete';
}
