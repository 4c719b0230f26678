import type { Defect } from '../defects/defect.js';
import { table } from './table.js';

/** @param found the scenario that shows each defect */
export function defectsTable(defects: readonly Defect[], found: ReadonlyMap<string, string>): string {
  return table(
    ['defect', 'shown by', 'scenario'],
    defects.map(({ name, group }) => [name, group, found.get(name) ?? '**not found**']),
  );
}
