import type { CoordinationService, LeaderElectionService } from '../../lib/index.js';

/** The services that an application uses by name. */
export interface ByName {
  readonly coordination: CoordinationService;
  readonly elections: LeaderElectionService;
}

/** Uses of one name by two applications, keyed by kind. Each resolves to whether both had the same thing. */
export const SHARED_BY_NAME: Readonly<Record<string, (one: ByName, other: ByName) => Promise<boolean>>> = {
  'a leader': async (one, other) => {
    await one.elections.campaign('auditor');
    const standing = other.elections.campaign('auditor', { waitMs: 0 });
    return standing.then(
      () => false,
      (error: unknown) => (error as { readonly code?: unknown }).code === 'LOCK_TIMEOUT',
    );
  },
  'a queue': async (one, other) => {
    await one.coordination.queue('mail').put('a');
    return (await other.coordination.queue('mail').size()) === 1;
  },
  'a barrier': async (one, other) => {
    await one.coordination.barrier('migrated').raise();
    return other.coordination.barrier('migrated').isUp();
  },
  'a double barrier': async (one, other) => {
    const enter = ({ coordination }: ByName) =>
      coordination.doubleBarrier('round', { count: 2 }).enter({ waitMs: 1_000 });
    const entered = await Promise.allSettled([one, other].map(enter));
    return entered.every(({ status }) => status === 'fulfilled');
  },
  'a counter': async (one, other) => {
    await one.coordination.counter('visits').add(1);
    return (await other.coordination.counter('visits').get()).value === 1;
  },
  'a value': async (one, other) => {
    await one.coordination.value('theme', { initial: 'dark' }).set('light');
    return (await other.coordination.value('theme', { initial: 'dark' }).get()).value === 'light';
  },
};
