import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ContendedCall } from './contended-call.js';

/** The folders that implement locks. The code below them is the same for every request to the servers. */
const LOCK_FOLDERS = [
  'service',
  'local',
  'composite',
  'sessions',
  'zookeeper',
  'zookeeper/recipes',
  'zookeeper/session',
];

/** Every class that represents something held on this path, now or in 0.1.0. Views of another lease are not counted. */
const HOLDS = [
  'Contender',
  'QueueGrant',
  'ZooKeeperHold',
  'GrantedLease',
  'SharedLease',
  'SharedGrant',
  'ReentrantHold',
  'HoldShare',
  'HoldFrame',
  'HoldScope',
];

export interface PathCounts {
  /** The number of files of the library in which at least one function runs. */
  readonly files: number;
  /** The number of functions with a name that run at least once. */
  readonly functions: number;
  /** The number of changes to another file between consecutive functions, in the order of their first runs. */
  readonly fileChanges: number;
  /** The number of changes to another folder between them. */
  readonly layerChanges: number;
  /** The number of consecutive promise continuations between the socket's event and the method's first line. */
  readonly hops: number;
}

export function countPath({ steps, hopsToMethod }: ContendedCall): PathCounts {
  const functions = [...new Set(steps)].filter(hasName);
  return {
    files: new Set(steps.map(fileOf)).size,
    functions: functions.length,
    fileChanges: countChanges(functions.map(fileOf)),
    layerChanges: countChanges(functions.map(layerOf)),
    hops: hopsToMethod,
  };
}

/** The share of one folder in a path. */
export interface FolderCounts {
  readonly folder: string;
  readonly files: number;
  readonly functions: number;
}

/** The files and the functions with a name, by folder, in the order of a call. */
export function countFolders({ steps }: ContendedCall): readonly FolderCounts[] {
  const all = [...new Set(steps)];
  return [...new Set(all.map(layerOf))].map((folder) => {
    const own = all.filter((step) => layerOf(step) === folder);
    return { folder, files: new Set(own.map(fileOf)).size, functions: own.filter(hasName).length };
  });
}

/** The files to read in order to learn how a lock is acquired, waited for and released. */
export function filesOfLock({ steps }: ContendedCall): readonly string[] {
  return [...new Set(steps.filter((step) => LOCK_FOLDERS.includes(layerOf(step))).map(fileOf))].sort();
}

/** The names of the classes in the sources below `lib` that represent a hold. */
export function nounsForHold(lib: string): readonly string[] {
  const sources = readdirSync(lib, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => readFileSync(join(lib, path), 'utf8'));
  return HOLDS.filter((name) =>
    sources.some((source) => new RegExp(`^(export )?(abstract )?class ${name}\\b`, 'm').test(source)),
  );
}

/**
 * Whether a step has a function name. A callback without one belongs to the function around it, and has its line as a
 * name.
 */
function hasName(step: string): boolean {
  return !/:\d+$/.test(step);
}

function fileOf(step: string): string {
  return step.slice(0, step.indexOf(':'));
}

function layerOf(step: string): string {
  return dirname(fileOf(step));
}

function countChanges(places: readonly string[]): number {
  return places.filter((one, index) => index > 0 && one !== places[index - 1]).length;
}
