import { catchingUp } from './catching-up.js';
import { changes } from './changes.js';
import { creations, noExtendedTypes } from './creations.js';
import type { Group } from './group.js';
import { handshakes } from './handshakes.js';
import { oddities } from './oddities.js';
import { paths } from './paths.js';
import { permissions } from './permissions.js';
import { reaping } from './reaping.js';
import { sessions } from './sessions.js';
import { transactions } from './transactions.js';
import { watches } from './watches.js';
import { words } from './words.js';

/** All groups that are compared with a real server. */
export const GROUPS: readonly Group[] = [
  changes,
  handshakes,
  creations,
  noExtendedTypes,
  paths,
  permissions,
  transactions,
  watches,
  catchingUp,
  sessions,
  reaping,
  oddities,
  words,
];

export function groupNamed(name: string): Group {
  const group = GROUPS.find((one) => one.name === name);
  if (!group) throw new Error(`no group "${name}"; there are ${GROUPS.map((one) => one.name).join(', ')}`);
  return group;
}
