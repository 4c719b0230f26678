import 'reflect-metadata';
import { Injectable } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { expect, it } from 'vitest';
import { deferred } from '../../lib/async/deferred.js';
import { DistributedLock } from '../../lib/index.js';
import type { LockTimeoutError } from '../../lib/index.js';
import { LockTesting, LockTestingModule } from '../../lib/testing/index.js';
import { started } from './app.js';

@Injectable()
class Desk {
  readonly entered = deferred();
  readonly mayEnd = deferred();

  @DistributedLock('desk')
  async hold() {
    this.entered.resolve();
    await this.mayEnd.promise;
  }

  @DistributedLock('desk', { waitMs: 40 })
  async impatient() {}
}

const errorOf = (call: Promise<unknown>): Promise<LockTimeoutError> =>
  call.then(
    () => expect.unreachable('it ran'),
    (error: LockTimeoutError) => error,
  );

async function startDesk() {
  const app = await started(
    Test.createTestingModule({ imports: [LockTestingModule.forRoot()], providers: [Desk] }).compile(),
  );
  return { desk: app.get(Desk), testing: app.get(LockTesting) };
}

it('a timeout of a decorated method names the method of this process that holds the key', async () => {
  const { desk } = await startDesk();
  const holding = desk.hold();
  await desk.entered.promise;
  const error = await errorOf(desk.impatient());
  expect(error.message).toMatch(/^"desk" is locked by Desk\.hold \(this process\) since .* \(waited 40 ms\)$/);
  desk.mayEnd.resolve();
  await holding;
});

it('a timeout of a decorated method says that another process holds the key', async () => {
  const { desk, testing } = await startDesk();
  await testing.contend('desk').held;
  const error = await errorOf(desk.impatient());
  expect(error.holders).toMatchObject([{ state: 'held', owner: { host: 'elsewhere' }, isOwn: false }]);
  expect(error.message).toMatch(/\(host elsewhere\)/);
});
