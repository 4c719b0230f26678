import { setTimeout as pause } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { EmbeddedEnsemble } from '../../../../lib/testing/index.js';
import { freshBasePath } from '../../../support/base-path.js';
import { openCoordination } from '../../../support/coordination/services.js';

it('a member of a double barrier on a lagging server does not leave before the others inside', async () => {
  const ensemble = await EmbeddedEnsemble.start(3);
  onTestFinished(() => ensemble.stop());
  const [up, behind] = ensemble.servers;
  const basePath = freshBasePath();
  const [one, other] = await Promise.all(
    [behind!, up!].map(({ connectString }) => openCoordination({ connectString, basePath })),
  );
  const leaves = await one!.doubleBarrier('stage', { count: 1 }).enter();
  behind!.lag(100);
  const stays = await other!.doubleBarrier('stage', { count: 1 }).enter();

  const leaving = leaves.leave({ waitMs: 30_000 }).then(() => 'left');

  expect(await Promise.race([leaving, pause(1_000, 'waits')])).toBe('waits');
  expect(stays.isIn()).toBe(true);
  await stays.leave();
  expect(await leaving).toBe('left');
});
