import { describe, expect, it, vi } from 'vitest';
import { fencingTokenOf, handedOver, MOST_HAND_OVERS } from '../../../../lib/contract/granted-lease.js';
import { EmbeddedEnsemble } from '../../../../lib/testing/index.js';
import { closeService, openService } from '../../../support/services.js';
import { startServer } from './servers.js';

const YEAR_MS = 365 * 24 * 3_600_000;

/** The module as another process has it, without the counters of this process. */
async function anotherProcess() {
  vi.resetModules();
  return import('../../../../lib/testing/embedded/database/zxids.js');
}

async function tokenOf({ connectString }: { readonly connectString: string }): Promise<bigint> {
  const locks = await openService({ connectString });
  const { fencingToken } = await locks.acquire('k');
  // The session is closed while its server is running, since that sends a request.
  await closeService(locks);
  return fencingToken;
}

describe('the fencing tokens of an embedded server', () => {
  it('fit into a signed column of 64 bits, at every hand-over', async () => {
    const token = await tokenOf(await startServer());
    const last = handedOver(token, MOST_HAND_OVERS);
    expect(BigInt.asIntN(64, last)).toBe(last);
  });

  it('fit also after the elections of an ensemble', async () => {
    await using ensemble = await EmbeddedEnsemble.start(3, { tickTimeMs: 500 });
    for (const server of ensemble.servers) {
      await server.kill();
      await server.restart();
    }
    const token = await tokenOf(ensemble);
    expect(BigInt.asIntN(64, token)).toBe(token);
  });

  it('grow when the server is started again on the same port', async () => {
    const first = await startServer();
    const before = await tokenOf(first);
    await first.stop();
    expect(await tokenOf(await startServer({ port: first.port }))).toBeGreaterThan(before);
  });
});

describe('the first zxid of an embedded server', () => {
  it('leaves room for a token of 63 bits, until 2060', async () => {
    const { firstZxid } = await anotherProcess();
    const last = firstZxid(Date.UTC(2060, 0));
    const token = handedOver(fencingTokenOf(last), MOST_HAND_OVERS);
    expect(BigInt.asIntN(64, token)).toBe(token);
  });

  it('is above a million transactions of an earlier server of this process, however fast they were', async () => {
    const { firstZxid, nextZxid } = await anotherProcess();
    let last = firstZxid(Date.now());
    for (let count = 0; count < 1_000_000; count++) last = nextZxid(last);
    expect(firstZxid(Date.now())).toBeGreaterThan(last);
  });

  it('is above those of an earlier process that did 128,000 transactions a second', async () => {
    const [startedAt, seconds] = [Date.now(), 8];
    const earlier = await anotherProcess();
    let last = earlier.firstZxid(startedAt);
    for (let count = 0; count < 128_000 * seconds - 1; count++) last = earlier.nextZxid(last);
    const later = await anotherProcess();
    expect(later.firstZxid(startedAt + 1_000 * seconds)).toBeGreaterThan(last);
  });

  it('grows when the clock is set back, also to a time before the first zxid', async () => {
    const { firstZxid, nextZxid, zxidAfterElection } = await anotherProcess();
    const now = Date.now();
    const first = nextZxid(firstZxid(now));
    const second = nextZxid(firstZxid(now - YEAR_MS));
    expect(second).toBeGreaterThan(first);
    const third = zxidAfterElection(second, 0);
    expect(third).toBeGreaterThan(second);
    expect(firstZxid(0)).toBeGreaterThan(third);
  });

  it('is positive on a machine whose clock has never been set', async () => {
    const { firstZxid } = await anotherProcess();
    expect(firstZxid(0)).toBeGreaterThan(0n);
  });
});
