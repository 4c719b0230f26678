import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ContendedCall } from './contended-call.js';

/** The folders in which a lock is told: what is below them is the same for everything that is asked of the servers. */
const LOCK_FOLDERS = ['service', 'local', 'composite', 'zookeeper', 'zookeeper/recipes', 'zookeeper/session'];

/** Every class that stands for the fact that something is held. */
const HOLDS = [
  'Contender',
  'QueueGrant',
  'GrantedLease',
  'SharedLease',
  'SharedGrant',
  'ReentrantHold',
  'HoldShare',
  'HoldFrame',
  'HoldScope',
];

export interface PathCounts {
  /** Files of the library in which at least one function runs. */
  readonly files: number;
  /** Functions with a name that run at least once. */
  readonly functions: number;
  /** How often the next of these functions, in the order of their first runs, is in another file. */
  readonly fileChanges: number;
  /** How often it is in another folder. */
  readonly layerChanges: number;
  /** How many promises go on, one behind the other, between the socket's event and the method's first line. */
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

/** The files that somebody reads who wants to know how a lock is taken, waited for and given back. */
export function filesOfLock({ steps }: ContendedCall): readonly string[] {
  return [...new Set(steps.filter((step) => LOCK_FOLDERS.includes(layerOf(step))).map(fileOf))].sort();
}

/** The names, in the sources below `lib`, of classes that stand for a hold. */
export function nounsForHold(lib: string): readonly string[] {
  const sources = readdirSync(lib, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => readFileSync(join(lib, path), 'utf8'));
  return HOLDS.filter((name) =>
    sources.some((source) => new RegExp(`^(export )?(abstract )?class ${name}\\b`, 'm').test(source)),
  );
}

/** A callback that is written where it is passed on is a part of the function around it, and is called by its line. */
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
