import 'reflect-metadata';
import { Injectable } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { describe, expect, it } from 'vitest';
import {
  currentTerm,
  LeaderElectionService,
  LeaderOnly,
  LockLostError,
  LockNotLeaderError,
  LockUnavailableError,
} from '../../lib/index.js';
import { LockTesting, LockTestingModule } from '../../lib/testing/index.js';
import type { LockTestingModuleOptions } from '../../lib/testing/index.js';
import { eventually } from '../support/eventually.js';
import { started } from './app.js';

@Injectable()
class Poller {
  @LeaderOnly('poller')
  async poll() {
    return currentTerm();
  }

  @LeaderOnly('poller', { onFollower: 'throw' })
  async strict() {
    return 'leads';
  }
}

async function start(options: LockTestingModuleOptions = {}) {
  const imports = [LockTestingModule.forRoot(options)];
  const app = await started(Test.createTestingModule({ imports, providers: [Poller] }).compile());
  const poller = app.get(Poller);
  const elected = () => eventually(() => poller.poll(), 'it leads');
  return { poller, elected, testing: app.get(LockTesting), elections: app.get(LeaderElectionService) };
}

describe('@LeaderOnly under LockTestingModule', () => {
  it('runs, because the application leads', async () => {
    const { elected, elections } = await start();
    const term = await elected();
    expect(await elections.leader('poller')).toMatchObject({ isOwn: true, fencingToken: term.fencingToken });
  });

  it('is skipped while another candidate leads, until the test ends that term', async () => {
    for (const keys of [undefined, ['poller']]) {
      const { poller, elected, testing } = await start({ mode: 'contended', ...(keys && { keys }) });
      await expect(poller.strict()).rejects.toBeInstanceOf(LockNotLeaderError);
      expect(await poller.poll()).toBeUndefined();
      await testing.letGo('poller');
      await elected();
    }
  });

  it('gets a lost term from the test, and then the next one', async () => {
    const { elected, testing } = await start();
    const first = await elected();
    testing.loseLease('poller');
    expect(first.state).toBe('lost');
    expect(first.signal.reason).toBeInstanceOf(LockLostError);
    expect((await elected()).fencingToken).toBeGreaterThan(first.fencingToken);
  });

  it('keeps leading while no server answers, but cannot proclaim or look up anything', async () => {
    const { elected, testing, elections } = await start();
    const term = await elected();
    testing.unavailable();
    expect([term.state, term.isHeld()]).toEqual(['suspended', true]);
    await expect(term.proclaim('here')).rejects.toBeInstanceOf(LockUnavailableError);
    await expect(elections.leader('poller')).rejects.toBeInstanceOf(LockUnavailableError);
    testing.available();
    await term.proclaim('here');
    expect([term.state, (await elections.leader('poller'))?.value]).toEqual(['held', 'here']);
  });

  it('is skipped without a server from the start, and leads once there is one', async () => {
    const { poller, elected, testing } = await start({ mode: 'unavailable' });
    expect(await poller.poll()).toBeUndefined();
    testing.available();
    await elected();
  });
});
