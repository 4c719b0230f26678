import type { CellChange } from '../../contract/cells.js';
import type { LockDirectory } from '../recipes/lock-directory.js';
import { CreateMode } from '../session/requests.js';
import type { MultiOp } from '../session/requests.js';

/** Where a cell is. */
export interface CellPlace {
  readonly path: string;
  /** What the cell is in. */
  readonly directory: LockDirectory;
  /** Where writes that are under way leave a mark. */
  readonly marks: LockDirectory;
}

/** The operation that makes the change; without a condition, what is thought to be there decides. */
export function changeOp({ path, directory }: CellPlace, { data, ifVersion }: CellChange, isThere: boolean): MultiOp {
  const version = typeof ifVersion === 'number' ? ifVersion : undefined;
  if (data === undefined) return { type: 'delete', path, version };
  if (!isThere) return { type: 'create', path, data, acl: directory.acl, flags: CreateMode.persistent };
  return { type: 'setData', path, data, version };
}
