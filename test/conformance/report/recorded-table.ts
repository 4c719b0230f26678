import type { Group } from '../scenarios/group.js';
import { table } from './table.js';

/** Returns a table of the sizes of the recordings. */
export function recordedTable(groups: readonly Group[], linesOf: (group: Group) => number): string {
  const rows = groups.map((group) => [group.name, String(Object.keys(group.scenarios).length), String(linesOf(group))]);
  const sum = (column: number) => String(rows.reduce((total, row) => total + Number(row[column]), 0));
  return table(['recording', 'scenarios', 'lines'], [...rows, ['all', sum(1), sum(2)]]);
}
