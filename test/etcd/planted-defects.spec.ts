import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { now } from '../../lib/async/clock.js';
import { Contender } from '../../lib/etcd/locks/contender.js';
import { EtcdSession } from '../../lib/etcd/session/etcd-session.js';
import { EtcdServer } from '../../lib/testing/index.js';
import { findingOf } from '../support/fault-finding.js';
import { SESSION_MS } from './support/clients.js';
import { etcdSubject } from './support/fault-subject.js';
import { planted } from './support/planted.js';

let server: EtcdServer;

beforeAll(async () => {
  server = await EtcdServer.start();
});

afterAll(() => server.stop());

describe('a planted defect is found:', () => {
  it('a deadline that is counted from the reply', async () => {
    const { proven } = EtcdSession.prototype;
    const planted = vi.spyOn(EtcdSession.prototype, 'proven').mockImplementation(function (this: EtcdSession, _, ttl) {
      proven.call(this, now(), ttl);
    });
    onTestFinished(() => planted.mockRestore());
    const check = 'after late replies: the lease ends before the next one is granted';
    const subject = { ...etcdSubject(() => server), limitMs: 15_000 };
    expect(await findingOf(check, subject)).toMatch(/still believes in its lease/);
  });

  it('an event of the watch that is taken for the grant', async () => {
    const { placed } = Contender.prototype;
    const planted = vi.spyOn(Contender.prototype, 'placed').mockImplementation(function (this: Contender, place) {
      placed.call(this, place && { ...place, isTurn: true });
    });
    onTestFinished(() => planted.mockRestore());
    const check = 'in the middle of messages, during traffic';
    expect(
      await findingOf(
        check,
        etcdSubject(() => server),
      ),
    ).toMatch(/both held/);
  });

  it.each([
    'of a write that makes a record, which others remove: it is not made again',
    'of a write that changes a record, which others make anew: it is not made again',
    'of a write that removes a record, which others make anew: it is not made again',
  ])('a write that is sent again whatever has happened meanwhile, by the check %s', async (check) => {
    const sendAgain = await planted([
      { file: 'etcd/session/key-writing.ts', replace: 'if (!isKnown) throw', by: 'if (false) throw' },
      { file: 'etcd/session/key-writing.ts', replace: 'if (isMarked || ', by: 'if (' },
    ]);
    // A defect of this kind is compared, and not waited for.
    const subject = { ...etcdSubject(() => server, SESSION_MS, sendAgain), limitMs: 30_000 };
    expect(await findingOf(check, subject)).toMatch(/a write is applied twice/);
  });
});
