import type { Edit } from './edit.js';

/** The environment variable of a simulated process that names the shortcuts to switch off. */
export const WITHOUT = 'WITHOUT_SHORTCUTS';

const isOff = (name: string) => `process.env.${WITHOUT}?.includes('${name}')`;

/** The switches of the shortcuts. The library has none: they are made in the code that simulated processes run. */
const SWITCHES = {
  'group commit': {
    file: 'zookeeper/client/outbox.js',
    replace: 'if (first && writes.length === 1)',
    by: `if (${isOff('group commit')}) return writes.map((one) => this.#alone(one)); if (first && writes.length === 1)`,
  },
  'consecutive numbers': {
    file: 'zookeeper/recipes/shortcuts/sequence-fast-path.js',
    replace: 'this.isLikely = this.#followed >=',
    by: `this.isLikely = !${isOff('consecutive numbers')} && this.#followed >=`,
  },
  'batched creates': {
    file: 'zookeeper/recipes/shortcuts/create-batching.js',
    replace: 'return this.#held.size > 0 ||',
    by: `if (${isOff('batched creates')}) return false; return this.#held.size > 0 ||`,
  },
  'shared lists': {
    file: 'zookeeper/client/outbox.js',
    replace: 'const asked = this.#shared.get(what) ?? ask();',
    by: `if (${isOff('shared lists')}) return ask(); const asked = this.#shared.get(what) ?? ask();`,
  },
  'look-ahead': {
    file: 'zookeeper/recipes/wait-for-turn.js',
    replace: 'this.#watchOnly(nearest, queue);',
    by: `this.#watchOnly(${isOff('look-ahead')} ? nearest.slice(0, 1) : nearest, queue);`,
  },
} as const satisfies Readonly<Record<string, Edit>>;

export type Shortcut = keyof typeof SWITCHES;

export const SHORTCUTS = Object.keys(SWITCHES) as Shortcut[];

export const SHORTCUT_SWITCHES: readonly Edit[] = Object.values(SWITCHES);
