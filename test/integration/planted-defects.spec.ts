import { expect, inject, it, onTestFinished, vi } from 'vitest';
import { zookeeper } from '../../lib/index.js';
import { Session } from '../../lib/zookeeper/session/session.js';
import { LeaseClock } from '../../lib/zookeeper/session/lease-clock.js';
import { freshBasePath } from '../support/base-path.js';
import { findingOf } from '../support/fault-finding.js';

const port = Number(inject('zookeeper').split(':')[1]);
const basePath = freshBasePath();

const subject = {
  server: () => ({ port }),
  sessionTimeoutMs: 2_000,
  open: (target: { readonly port: number; readonly sessionTimeoutMs: number }) => {
    const { sessionTimeoutMs } = target;
    return zookeeper({ connectString: `127.0.0.1:${target.port}`, basePath, sessionTimeoutMs }).create();
  },
};

it('a planted defect is found: a session without a clock of its own', async () => {
  const planted = vi.spyOn(LeaseClock.prototype, 'deadline', 'get').mockReturnValue(2 ** 31);
  onTestFinished(() => planted.mockRestore());
  const check = 'both ways: the lease ends before the next one is granted';
  expect(await findingOf(check, subject)).toMatch(/still believes in its lease/);
});

it('a planted defect is found: a paused process that believes until it is told', async () => {
  const planted = vi.spyOn(Session.prototype, 'isCurrent', 'get').mockReturnValue(true);
  onTestFinished(() => planted.mockRestore());
  const check = 'for longer than its session: it knows at once that its lease is over';
  expect(await findingOf(check, subject)).toMatch(/believes in its lease after the pause/);
});
