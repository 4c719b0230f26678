import { withAncestors } from '../session/znode-path.js';
import type { MultiOp, MultiResult } from '../session/requests.js';
import { DIRECTORY } from './record-node.js';
import { createOp, mayCreate, opsOf } from './record-ops.js';
import type { PlacedChange, WriteTools } from './record-ops.js';

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
