import { describe, expect, it } from 'vitest';
import { LINK_FAILPOINTS } from '../failpoints/links.js';
import { PROCESS_FAILPOINTS } from '../failpoints/processes.js';
import { SERVER_FAILPOINTS } from '../failpoints/servers.js';
import { scenariosOn } from './other-backends.js';
import { SCENARIOS } from './scenarios.js';

const FAULTS = Object.keys({ ...LINK_FAILPOINTS, ...PROCESS_FAILPOINTS, ...SERVER_FAILPOINTS });
const names = (all: readonly { readonly name: string }[]) => all.map(({ name }) => name);

describe.each(['redis', 'etcd'] as const)('the scenarios on %s', (backend) => {
  const { scenarios, leftOut } = scenariosOn(backend);

  it('are all scenarios but those that are left out by name', () => {
    const outside = names(leftOut).filter((name) => !FAULTS.includes(name));
    expect([...names(scenarios), ...outside].sort()).toEqual(names(SCENARIOS).sort());
    expect(leftOut.every(({ why }) => why.length > 0)).toBe(true);
  });

  it('have no fault that is left out, and some in each lane', () => {
    for (const { lanes } of scenarios) {
      for (const lane of Object.values(lanes)) {
        expect(lane.length).toBeGreaterThan(0);
        expect(lane.filter((fault) => names(leftOut).includes(fault))).toEqual([]);
      }
    }
  });

  it('have faults that their servers have', () => {
    for (const { servers, lanes } of scenarios) {
      const isCluster = /^(?:leader|follower|all servers|everybody)/;
      const faults = (lanes['servers'] ?? []).filter((fault) => isCluster.test(fault) !== (servers === 'ensemble'));
      expect(faults).toEqual([]);
    }
  });

  it('are on that backend', () => {
    expect(new Set(scenarios.map((scenario) => scenario.backend))).toEqual(new Set([backend]));
  });
});

it('nothing is left out on ZooKeeper', () => {
  expect(scenariosOn('zookeeper')).toEqual({ scenarios: SCENARIOS, leftOut: [] });
});
