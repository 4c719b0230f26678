import type { Hold } from '../model/history.js';

/** Returns the records of each key, in their order. */
export function byKey<T extends { readonly key: string }>(records: readonly T[]): T[][] {
  const groups = new Map<string, T[]>();
  for (const record of records) {
    const group = groups.get(record.key);
    if (group) group.push(record);
    else groups.set(record.key, [record]);
  }
  return [...groups.values()];
}

/** Returns the holds of each key, in the order in which they began. */
export function asTheyBegan(holds: readonly Hold[]): Hold[][] {
  return byKey(holds).map((group) => group.sort((a, b) => a.from - b.from));
}
