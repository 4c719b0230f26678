import type { Defect } from './defect.js';
import { REQUEST_DEFECTS } from './request-defects.js';
import { SESSION_DEFECTS } from './session-defects.js';
import { TREE_DEFECTS } from './tree-defects.js';
import { WATCH_DEFECTS } from './watch-defects.js';

export const DEFECTS: readonly Defect[] = [...SESSION_DEFECTS, ...TREE_DEFECTS, ...WATCH_DEFECTS, ...REQUEST_DEFECTS];

export function defectNamed(name: string): Defect {
  const defect = DEFECTS.find((one) => one.name === name);
  if (!defect) throw new Error(`no defect "${name}"; there are ${DEFECTS.map((one) => one.name).join(', ')}`);
  return defect;
}
