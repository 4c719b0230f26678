import { describe, expect, it } from 'vitest';
import { LockConfigurationError } from '../../../../lib/contract/errors.js';
import { EmbeddedEnsemble } from '../../../../lib/testing/index.js';
import type { EmbeddedEnsembleOptions, EnsembleMember } from '../../../../lib/testing/index.js';
import { handshakeFrame } from '../../../conformance/stage/handshake.js';
import { RawClient } from '../../../integration/ensemble/behaviours/raw-client.js';
import { openAt, pass, rolesOf, startTimed } from './passing-time.js';
import { openRaw } from './raw.js';

const LONG_MS = 10_000;
const SHORT_MS = 5_000;
/** 20 ticks. */
const MOST_MS = 20_000;

/** A leader that grants long sessions, a follower that grants short ones, and a follower without its own limit. */
const startUnlike = () => startTimed({ longestSessionsMs: [LONG_MS, SHORT_MS], expiryDelayMs: 0 });

/** The session timeout in the reply to a new client, and that of its session. */
async function granted(server: EnsembleMember, timeoutMs: number): Promise<[toldMs: number, timeoutMs: number]> {
  const raw = await openRaw(server);
  raw.write(handshakeFrame({ timeoutMs }));
  const welcome = (await raw.next())!;
  return [welcome.readInt32BE(4), server.session(welcome.readBigInt64BE(8)).timeoutMs];
}

describe('longestSessionsMs of an embedded ensemble', () => {
  it('limits what each server grants, in their order; the others use maxSessionTimeoutMs', async () => {
    const ensemble = await startUnlike();
    const all = await Promise.all(ensemble.servers.map((server) => granted(server, 2 * MOST_MS)));
    expect(all).toEqual([
      [LONG_MS, LONG_MS],
      [SHORT_MS, SHORT_MS],
      [MOST_MS, MOST_MS],
    ]);
  });

  it('does not change shorter sessions', async () => {
    const ensemble = await startUnlike();
    const all = await Promise.all(ensemble.servers.map((server) => granted(server, SHORT_MS)));
    expect(all).toEqual([
      [SHORT_MS, SHORT_MS],
      [SHORT_MS, SHORT_MS],
      [SHORT_MS, SHORT_MS],
    ]);
  });

  it('shortens a session that reconnects there, until there is a new leader', async () => {
    const ensemble = await startUnlike();
    const [leader, one] = rolesOf(ensemble);
    const { client, session } = await openAt(ensemble, leader, LONG_MS);
    const asked = { ...client.session, timeoutMs: LONG_MS };
    expect(await RawClient.open(one, asked)).toBeDefined();
    expect([session.firstTimeoutMs, session.timeoutMs, session.earliestEndMs]).toEqual([LONG_MS, SHORT_MS, SHORT_MS]);
    await leader.kill();
    expect([session.timeoutMs, session.earliestEndMs]).toEqual([LONG_MS, LONG_MS]);
    await pass(ensemble, SHORT_MS + 1);
    expect(session.isOpen).toBe(true);
    // The new leader is that server, so its own limit applies from now on.
    expect(await RawClient.open(one, asked)).toBeDefined();
    await pass(ensemble, SHORT_MS - 1);
    expect(session.isOpen).toBe(true);
    await pass(ensemble, 1);
    expect(session.isOpen).toBe(false);
  });

  it('lengthens a session that reconnects there, until there is a new leader', async () => {
    const ensemble = await startUnlike();
    const [leader, one] = rolesOf(ensemble);
    const { client, session } = await openAt(ensemble, one, LONG_MS);
    const back = await RawClient.open(leader, { ...client.session, timeoutMs: LONG_MS });
    expect(back).toBeDefined();
    expect([session.firstTimeoutMs, session.timeoutMs]).toEqual([SHORT_MS, LONG_MS]);
    // A new leader may be elected at any moment. It has only the first timeout.
    expect(session.earliestEndMs).toBe(SHORT_MS);
    await pass(ensemble, LONG_MS - 1);
    expect(session.isOpen).toBe(true);
    await leader.kill();
    expect([session.timeoutMs, session.earliestEndMs]).toEqual([SHORT_MS, LONG_MS - 1 + SHORT_MS]);
    await pass(ensemble, SHORT_MS);
    expect(session.isOpen).toBe(false);
  });

  it.each([
    ['0', [0]],
    ['-1', [-1]],
    ['NaN', [NaN]],
    ['Infinity', [Infinity]],
    ['a text', ['5']],
    ['0 behind others', [LONG_MS, 0]],
    ['no list', LONG_MS],
    ['a text for a list', 'long'],
    ['null', null],
  ])('is validated: %s', async (_what, longestSessionsMs) => {
    const start = EmbeddedEnsemble.start(3, { longestSessionsMs } as EmbeddedEnsembleOptions);
    await expect(start).rejects.toThrow(/^longestSessionsMs must be/);
    await expect(start).rejects.toBeInstanceOf(LockConfigurationError);
  });
});
