import type { Focus } from './focus.js';

/** The scenarios to which a search can be restricted. */
export const SCENARIOS: Readonly<Record<string, Focus>> = {
  /** Everything, with each kind of fault on or off by seed. */
  swarm: {},
  calm: { faults: [] },
  links: { faults: ['reset', 'vanish', 'hold', 'one-way', 'slow', 'lost-reply', 'lost-request', 'failed-request'] },
  processes: { faults: ['stop', 'stall', 'suspend', 'wall-jump', 'crash', 'power-off'] },
  servers: {
    faults: ['server-kill', 'server-power-off', 'freeze', 'cut-off', 'leader-change', 'lost-quorum', 'lag', 'refuse'],
  },
  backups: { faults: ['data-gone', 'reset'] },
  outside: { faults: ['expiry', 'delete-node', 'reap'] },
};

/** @throws Error that names the existing scenarios */
export function scenarioNamed(name: string): Focus {
  const focus = SCENARIOS[name];
  if (focus) return focus;
  throw new Error(`there is no scenario "${name}"; there are ${Object.keys(SCENARIOS).join(', ')}`);
}
