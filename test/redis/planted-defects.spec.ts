import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { now } from '../../lib/async/clock.js';
import { GrantedLease } from '../../lib/contract/granted-lease.js';
import type { LockBackend } from '../../lib/contract/lock-backend.js';
import { WRITE_RECORDS } from '../../lib/redis/scripts/record-scripts.js';
import { RENEW } from '../../lib/redis/scripts/session-scripts.js';
import { Renewal } from '../../lib/redis/session/renewal.js';
import { RedisSession } from '../../lib/redis/session/redis-session.js';
import { RedisServer } from '../../lib/testing/index.js';
import type { FaultSubject } from '../../lib/testing/index.js';
import { findingOf } from '../support/fault-finding.js';
import { clientsOf } from './support/clients.js';
import { redisSubject, settleSoon } from './support/fault-subject.js';
import { isFreedWhenLost } from './support/lost-lease.js';

/** Clients that settle at once, but for the checks of a restart. */
const SETTLED = { restartDelayMs: 0 };

let server: RedisServer;
let subject: FaultSubject;

beforeAll(async () => {
  server = await RedisServer.start();
});

beforeEach(() => {
  subject = { ...redisSubject(() => server, SETTLED), sessionTimeoutMs: 1_000 };
});

afterAll(() => server.stop());

/** Changes the leases that every client is granted. */
function withLeases(change: (real: GrantedLease) => GrantedLease): FaultSubject {
  const open = async (target: Parameters<FaultSubject['open']>[0]) => {
    const backend: LockBackend = await subject.open(target);
    const { acquire } = backend;
    backend.acquire = async (request) => {
      const real = await acquire.call(backend, request);
      return real && change(real);
    };
    return backend;
  };
  return { ...subject, open };
}

describe('a planted defect is found:', () => {
  it('a deadline that is counted from the reply', async () => {
    const { proven } = RedisSession.prototype;
    const planted = vi.spyOn(RedisSession.prototype, 'proven').mockImplementation(function (
      this: RedisSession,
      _,
      time,
    ) {
      proven.call(this, now(), time);
    });
    onTestFinished(() => planted.mockRestore());
    const check = 'after late replies: the lease ends before the next one is granted';
    expect(await findingOf(check, subject)).toMatch(/still believes in its lease/);
  });

  it('a renewal that revives a session which is over', async () => {
    const script = RENEW as { text: string; sha: string };
    const sound = { ...script };
    script.text = sound.text.replace('not isAlive(sid) or', '').replace('\nforgetEnded()', '');
    script.sha = `${sound.sha.slice(1)}0`;
    onTestFinished(() => void Object.assign(script, sound));
    expect(script.text).not.toBe(sound.text);
    // The client would end such a session, too.
    const { renew } = Renewal.prototype;
    const planted = vi.spyOn(Renewal.prototype, 'renew').mockImplementation(async function (this: Renewal) {
      const answer = await renew.call(this);
      return answer === 'LATE' ? 'ALIVE' : answer;
    });
    onTestFinished(() => planted.mockRestore());
    const open = clientsOf({ ...SETTLED, sessionTimeoutMs: 1_000 });
    const [one, other] = [open(server.url), open(server.url)];
    await Promise.all([one.connect(), other.connect()]);
    expect(await isFreedWhenLost({ one, other, sessionMs: 1_000, limitMs: 4_000 })).toBe(false);
  });

  it.each([
    'of a write that makes a record, which others remove: it is not made again',
    'of a write that changes a record, which others make anew: it is not made again',
    'of a write that removes a record, which others make anew: it is not made again',
  ])('a server that does not remember a write, by the check %s', async (check) => {
    const script = WRITE_RECORDS as { text: string; sha: string };
    const sound = { ...script };
    script.text = sound.text.replace('= rememberedUntil(id)', '= false');
    script.sha = `${sound.sha.slice(1)}0`;
    onTestFinished(() => void Object.assign(script, sound));
    expect(script.text).not.toBe(sound.text);
    // A defect of this kind is compared, and not waited for.
    expect(await findingOf(check, { ...subject, limitMs: 30_000 })).toMatch(/a write is applied twice/);
  });

  it('no time to settle after a restart', async () => {
    const check = 'grants no key before the lease of a holder that cannot reach it is over';
    const open: FaultSubject['open'] = async (target) => {
      const backend = await subject.open(target);
      const guarantees = { ...backend.guarantees, failOver: 'no free key for one session timeout' };
      return Object.defineProperty(backend, 'guarantees', { value: guarantees });
    };
    expect(await findingOf(check, { ...subject, open })).toMatch(/still believes in its lease/);
  });

  it('holders that a restarted server does not adopt', async () => {
    const planted = vi.spyOn(RedisSession.prototype, 'movesTo').mockImplementation(() => []);
    onTestFinished(() => planted.mockRestore());
    const settling = { ...redisSubject(() => server), sessionTimeoutMs: 1_000 };
    await settleSoon(settling);
    const check = 'for less than a session: holders keep their keys, and hand them over';
    expect(await findingOf(check, settling)).toMatch(/a lease that is held: not within/);
  });

  it('a lease that never notices its loss', async () => {
    const deaf = (real: GrantedLease) => {
      const { key, mode, fencingToken } = real;
      return new GrantedLease({ key, mode, fencingToken, isCurrent: () => true, giveBack: () => real.release() });
    };
    const check = 'both ways: the lease ends before the next one is granted';
    expect(await findingOf(check, withLeases(deaf))).toMatch(/still believes in its lease/);
  });

  it('a downgrade that waits for its answer', async () => {
    const waiting = (real: GrantedLease) => {
      const { downgrade } = real;
      real.downgrade = async () => {
        await downgrade.call(real);
        if (real.mode === 'write') await new Promise<void>((resolve) => real.onLost(() => resolve()));
      };
      return real;
    };
    const check = 'lets the holder go on that asks to become a reader: it does not wait for the answer';
    expect(await findingOf(check, withLeases(waiting))).toMatch(/downgrade\(\) ends with the session only/);
  });

  it('tokens that do not grow', async () => {
    const withOneToken = (real: GrantedLease) => {
      const { key, mode } = real;
      const isCurrent = () => real.isHeld();
      return new GrantedLease({ key, mode, fencingToken: 1n, isCurrent, giveBack: () => real.release() });
    };
    const check = 'in the middle of messages, during traffic';
    expect(await findingOf(check, withLeases(withOneToken))).toMatch(/was granted after/);
  });
});
