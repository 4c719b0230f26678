import { describe, expect, it, onTestFinished } from 'vitest';
import { EmbeddedZooKeeper } from '../../../lib/testing/index.js';
import { freshBasePath } from '../../support/base-path.js';
import { openCoordination } from '../../support/coordination/services.js';
import { eventually } from '../../support/eventually.js';

const SHORT_MS = 2_000;
const LONG_MS = 10_000;

/** A service whose server is out of reach from the next loss on. */
async function withOutage(sessionTimeoutMs: number) {
  const server = await EmbeddedZooKeeper.start();
  onTestFinished(() => server.stop());
  const basePath = freshBasePath();
  const { connectString } = server;
  const service = await openCoordination({ connectString, basePath, sessionTimeoutMs });
  const below = (path: string) => server.paths(`${basePath}/${path}`).slice(1);
  return { server, service, below, basePath };
}

describe('a member of a double barrier, without a server', () => {
  it('gives up entering once its session may have expired, though its create is not answered', async () => {
    const { server, service, below } = await withOutage(SHORT_MS);
    await service.doubleBarrier('d', { count: 1 }).enter();
    const lost = server.loseReply({ op: 'create2', path: /double-barriers/ }).then(() => server.refuse());
    const entering = service.doubleBarrier('d', { count: 2 }).enter({ waitMs: 300 });
    await Promise.all([lost, expect(entering).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' })]);
    server.heal();
    await eventually(() => below('%double-barriers/test%2Fd').every((path) => path.endsWith('/ready')), 'it is out');
  });

  it('gives up leaving as the last, and leaves nothing behind', async () => {
    const { server, service, below } = await withOutage(LONG_MS);
    const member = await service.doubleBarrier('d', { count: 1 }).enter();
    const lost = server.loseRequest({ op: 'delete', path: /double-barriers/ }).then(() => server.refuse());
    await Promise.all([
      lost,
      expect(member.leave({ waitMs: 300 })).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' }),
    ]);
    server.heal();
    await eventually(() => below('%double-barriers/test%2Fd').length === 0, 'it is out');
  });
});
