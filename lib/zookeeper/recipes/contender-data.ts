import { hostname } from 'node:os';

/** What a contender's znode says about its owner to whoever looks. */
export function contenderData(label?: string, id?: string): Buffer {
  return Buffer.from(JSON.stringify({ host: hostname(), pid: process.pid, label, id }));
}

/** The id that the data carries, of a znode whose name is not its own. Foreign data has none. */
export function contenderId(data: Buffer): unknown {
  try {
    return (JSON.parse(data.toString()) as { id?: unknown } | null)?.id;
  } catch {
    return undefined;
  }
}
