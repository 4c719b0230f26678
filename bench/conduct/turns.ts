import type { Contender, ContenderId } from '../contenders/contender.js';
import { CONTENDERS } from '../contenders/contenders.js';
import type { BenchOptions } from '../options.js';
import type { ServerName } from '../servers/servers.js';
import { SHAPES, shortened } from '../shapes.js';
import type { Shape } from '../shapes.js';

/** One contender on one shape, once. */
export interface Turn {
  readonly shape: Shape;
  readonly contender: Contender;
  readonly round: number;
}

/** Returns the turns of a run, in their order. */
export function turnsOf(options: BenchOptions): Turn[] {
  return shapesOf(options).flatMap((shape) => roundsOf(shape, options));
}

export function serverOf({ shape, contender }: Turn): ServerName {
  return contender.server === 'zookeeper' && shape.nodes === 3 ? 'ensemble' : contender.server;
}

export function processesOf(shape: Shape): number {
  switch (shape.kind) {
    case 'loop':
      return shape.processes;
    case 'queue':
    case 'first':
      return 1;
    case 'take-over':
      return 2;
  }
}

/** Returns whether a shape needs new processes: earlier work of a process would show in its figures. */
export function needsNewProcesses({ kind }: Shape): boolean {
  return kind === 'queue' || kind === 'first';
}

function shapesOf({ shapes, isShort }: BenchOptions): Shape[] {
  const running = SHAPES.filter(({ id }) => shapes.length === 0 || shapes.includes(id));
  return isShort ? running.map(shortened) : running;
}

/**
 * Returns the turns in interleaved rounds, so that a slow minute of the machine affects everybody. No contender is
 * always first.
 */
function roundsOf(shape: Shape, { rounds, contenders }: BenchOptions): Turn[] {
  const isWanted = (id: ContenderId) => contenders.length === 0 || contenders.includes(id) || id === shape.reference;
  const ids = [...shape.contenders.filter(isWanted), ...contenders.filter((id) => id === 'no-lock')];
  // The reference comes first: the server is warm only when the reference's processes are.
  const inOrder = [shape.reference, ...[...CONTENDERS.keys()].filter((id) => id !== shape.reference)];
  const running = inOrder.filter((id) => ids.includes(id)).map((id) => CONTENDERS.get(id)!);
  return Array.from({ length: rounds }, (_, round) => {
    const first = round % running.length;
    return [...running.slice(first), ...running.slice(0, first)].map((contender) => ({ shape, contender, round }));
  }).flat();
}
