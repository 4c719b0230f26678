import { describe, expect, it } from 'vitest';
import type { Contender } from '../../../lib/contract/contender.js';
import { ClusterView } from '../../../lib/dashboard/cluster-view.js';
import { HoldTimeline } from '../../../lib/dashboard/hold-timeline.js';
import { KeyNames } from '../../../lib/dashboard/key-names.js';
import type { LockService } from '../../../lib/service/lock.service.js';
import type { LockSurvey, LockSurveyKey } from '../../../lib/service/survey.js';

const since = new Date(1_000);

function keyHeldBy(kind: 'lock' | 'semaphore', mode: Contender['mode']): LockSurveyKey {
  const holder: Contender = {
    state: 'held',
    mode,
    permits: undefined,
    owner: { label: kind, host: 'shop-1', pid: 1 },
    since,
    isOwn: false,
    isLocal: false,
    isKept: false,
  } as Contender;
  return { key: 'pool', kind, service: undefined, holding: 1, waiting: 0, holders: [holder], waiters: [] };
}

describe('the hand-overs of a lock and a semaphore of one name', () => {
  it('do not end each other with each survey', async () => {
    const keys = [keyHeldBy('lock', 'exclusive'), keyHeldBy('semaphore', 'permit')];
    const survey = async () =>
      ({ keys, queues: [], isTruncated: false, takenAt: new Date(2_000) }) as unknown as LockSurvey;
    const timeline = new HoldTimeline();
    const locks = { survey } as unknown as LockService;
    const view = new ClusterView({ locks, names: new KeyNames({}), timeline, showHosts: true, paths: [] });
    await view.facts();
    view.stop();
    expect(timeline.of('pool')).toMatchObject([
      { owner: { label: 'lock' }, to: null },
      { owner: { label: 'semaphore' }, to: null },
    ]);
  });
});
