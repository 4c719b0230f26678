import { describe, expect, it, onTestFinished } from 'vitest';
import { EmbeddedEnsemble } from '../../../../lib/testing/index.js';
import type { EmbeddedEnsembleOptions } from '../../../../lib/testing/index.js';
import { BEHAVIOURS } from '../../../integration/ensemble/behaviours/behaviours.js';
import type { Stage, StagedServer } from '../../../integration/ensemble/behaviours/stage.js';

const TICK_MS = 1_000;
/** Time passes in steps, so that a message that is sent in one step arrives in the next. */
const STEPS_PER_TICK = 10;

async function embeddedStage(options: EmbeddedEnsembleOptions): Promise<Stage> {
  const ensemble = await EmbeddedEnsemble.start(3, { tickTimeMs: TICK_MS, clock: 'manual', ...options });
  onTestFinished(() => ensemble.stop());
  const memberOf = ({ id }: StagedServer) => ensemble.servers[id - 1]!;
  const pass = async (ticks: number) => {
    for (let step = 0; step < ticks * STEPS_PER_TICK; step++) {
      ensemble.advance(TICK_MS / STEPS_PER_TICK);
      await ensemble.idle();
    }
  };
  return {
    tickMs: TICK_MS,
    roles: async () => [ensemble.leader!, ensemble.followers[0]!, ensemble.followers[1]!],
    leader: async () => ensemble.leader,
    ticks: () => ensemble.nowMs / TICK_MS,
    pass,
    cutOff: (server) => memberOf(server).cutOff(),
    rejoin: () => ensemble.servers.forEach((server) => server.rejoin()),
    freeze: async (server) => memberOf(server).freeze(),
    thaw: async (server) => memberOf(server).thaw(),
    restore: () => ensemble.restore(),
  };
}

describe.each<[string, EmbeddedEnsembleOptions]>([
  ['', {}],
  [' whose elections take time', { electionMs: () => TICK_MS / 4 }],
])('of three embedded servers%s', (_, options) => {
  it.each(Object.entries(BEHAVIOURS))('%s', async (_name, behaves) => {
    const stage = await embeddedStage(options);
    await behaves(stage);
    expect(await stage.leader()).toBeDefined();
  });
});
