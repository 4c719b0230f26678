import type { World } from '../world/world.js';

/** Reports an error. The text ends with the name of the process. */
export type Broke = (what: string, error: unknown) => void;

/**
 * Runs a world. An unhandled rejection is reported. An uncaught exception ends its simulated process: one in a tick or
 * a listener reaches Node's `uncaughtException`, and not the world's own `try`.
 */
export async function withUncaught<T>(world: World, broke: Broke, run: () => Promise<T>): Promise<T> {
  const rejected = (error: unknown) => broke(`unhandled rejection in ${world.running?.name ?? 'no process'}`, error);
  const thrown = (error: unknown) => world.uncaught(error);
  process.on('unhandledRejection', rejected).on('uncaughtException', thrown);
  try {
    return await run();
  } finally {
    process.off('unhandledRejection', rejected).off('uncaughtException', thrown);
  }
}
