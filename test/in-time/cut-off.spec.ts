import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { BEHAVIOURS } from '../integration/ensemble/behaviours/behaviours.js';
import type { Stage, StagedServer } from '../integration/ensemble/behaviours/stage.js';
import { ThreeServers } from '../integration/ensemble/three-servers.js';

const TICK_MS = 500;

describe('of three real servers', () => {
  const three = new ThreeServers();

  const serverOf = ({ id }: StagedServer) => three.ensemble.servers.find((server) => server.id === id)!;

  const stage: Stage = {
    tickMs: TICK_MS,
    roles: () => three.roles(),
    leader: () => three.ensemble.leader(),
    ticks: () => performance.now() / TICK_MS,
    pass: (ticks) => pause(ticks * TICK_MS),
    cutOff: (server) => three.ensemble.partition(serverOf(server)),
    rejoin: () => three.ensemble.heal(),
    freeze: (server) => serverOf(server).freeze(),
    thaw: (server) => serverOf(server).thaw(),
    restore: () => three.ensemble.restore(),
  };

  it.each(Object.entries(BEHAVIOURS))('%s', async (_, behaves) => {
    await behaves(stage);
    expect(await stage.leader()).toBeDefined();
  });
});
