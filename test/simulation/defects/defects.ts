import { BUILT_ON } from './built-on.js';
import type { Defect } from './defect.js';
import { LEASE_CLOCK } from './lease-clock.js';
import { MENDED } from './mended.js';
import { RECIPES } from './recipes.js';
import { ROBUSTNESS } from './robustness.js';

export const DEFECTS: readonly Defect[] = [...ROBUSTNESS, ...MENDED, ...LEASE_CLOCK, ...RECIPES, ...BUILT_ON];

export function defectNamed(name: string): Defect {
  const defect = DEFECTS.find((one) => one.name === name);
  if (!defect) throw new Error(`no defect "${name}"; there are ${DEFECTS.map((one) => one.name).join(', ')}`);
  return defect;
}
