import { describe, expect, it } from 'vitest';
import { IdlePackets } from '../../../bench/conduct/idle-packets.js';
import { turnsOf } from '../../../bench/conduct/turns.js';
import { parseOptions } from '../../../bench/options.js';
import type { Server } from '../../../bench/servers/server.js';

describe('the messages of idle sessions', () => {
  const turns = turnsOf(parseOptions(['--shape', '4x1']));
  const of = (id: string) => turns.filter(({ contender }) => contender.id === id);

  it('are observed in the first round of each contender', async () => {
    let asked = 0;
    const server: Server = {
      address: '',
      counts: async () => ({ received: 10 * asked, sent: 20 * asked++, ephemerals: 0 }),
      stop: async () => {},
    };
    const idle = new IdlePackets(1);
    const ofOurs = [];
    for (const turn of of('ours')) ofOurs.push(await idle.of(turn, server));
    expect(asked).toBe(2);
    expect(new Set(ofOurs).size).toBe(1);
    expect(ofOurs[0]!.sent / ofOurs[0]!.received).toBeCloseTo(2);
    await idle.of(of('kazoo')[0]!, server);
    expect(asked).toBe(4);
  });

  it('are none on a server that does not count', async () => {
    const server: Server = { address: '', counts: () => undefined, stop: async () => {} };
    expect(await new IdlePackets(60_000).of(turns[0]!, server)).toEqual({ received: 0, sent: 0 });
  });
});
