import { join } from 'node:path';
import { ROOT } from '../support/repository-root.js';
import { SHORTCUT_SWITCHES, SHORTCUTS, WITHOUT } from '../support/shortcuts.js';
import { makeContendedCall } from './contended-call.js';
import { countFolders, countPath, filesOfLock, nounsForHold } from './counts.js';
import type { FolderCounts } from './counts.js';
import { PLAIN, TRACED } from './places.js';
import { writeTraced } from './traced.js';

/** A count, with its maximum. */
export interface Figure {
  readonly what: string;
  readonly count: number;
  readonly most: number;
}

export interface Measured {
  readonly figures: readonly Figure[];
  readonly folders: readonly FolderCounts[];
}

/**
 * Counts the steps of one contended call. For the files of the lock itself, every shortcut and the local queue are off.
 */
export async function measureFigures(): Promise<Measured> {
  writeTraced(TRACED);
  writeTraced(PLAIN, SHORTCUT_SWITCHES);
  const call = await makeContendedCall(TRACED);
  const { files, functions, layerChanges, hops } = countPath(call);
  const plain = await makeContendedCall(PLAIN, { [WITHOUT]: SHORTCUTS.join(), LOCAL_LINE: 'off' });
  const figures = [
    { what: 'files of the library that one contended decorated call runs through', count: files, most: 40 },
    { what: 'functions on that path', count: functions, most: 180 },
    { what: 'changes of folder on that path', count: layerChanges, most: 40 },
    { what: 'files that tell the mutex whole, without shortcuts', count: filesOfLock(plain).length, most: 12 },
    { what: 'promises between the socket’s event and the method’s first line', count: hops, most: 5 },
    { what: 'nouns for a hold', count: nounsForHold(join(ROOT, 'lib')).length, most: 4 },
  ];
  return { figures, folders: countFolders(call) };
}
