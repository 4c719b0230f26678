/** The records of each key, in the order in which they came. */
export function byKey<T extends { readonly key: string }>(records: readonly T[]): T[][] {
  const groups = new Map<string, T[]>();
  for (const record of records) {
    const group = groups.get(record.key);
    if (group) group.push(record);
    else groups.set(record.key, [record]);
  }
  return [...groups.values()];
}
