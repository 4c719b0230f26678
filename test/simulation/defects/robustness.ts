import { DEFECTS as PLANTED } from '../../robustness/defects/defects.js';
import type { Check, Defect } from './defect.js';

type Rest = Omit<Defect, 'name' | 'edits' | 'finds'> & { readonly alsoFinds?: readonly Check[] };

/** The conditions under which each defect of the robustness suite shows here. */
const RESTS: Readonly<Record<string, Rest>> = {
  'no-clock-of-its-own': {
    needs: { traffic: ['locks'], faults: ['hold'] },
    why: 'A lease ends when a server says so, which a server out of reach does not.',
    alsoFinds: ['claim', 'fencing tokens'],
    failsIn: {
      spec: 'test/unit/zookeeper/session/session.spec.ts',
      test: 'is current until its deadline by the clock, without an event',
    },
  },
  'an-answered-ping-proves-the-session': {
    needs: { traffic: ['locks'], faults: ['cut-off'] },
    why: 'A follower that is cut off goes on answering pings until its own time-out, and the holder goes on believing.',
    alsoFinds: ['claim', 'fencing tokens'],
    failsIn: {
      spec: 'test/unit/zookeeper/session/lease-clock.spec.ts',
      test: 'is not moved by pings alone, however many are answered',
    },
  },
  'lost-create-is-made-again': {
    needs: { traffic: ['locks'], faults: ['lost-reply'], plan: { ops: ['create2', 'createContainer', 'multi'] } },
    why: 'The znode of the first create blocks the key until the session ends.',
    alsoFinds: ['leftovers'],
    failsIn: {
      spec: 'test/unit/zookeeper/recipes/enter-together.spec.ts',
      test: 'finds all of them again after a lost reply',
    },
  },
  'one-attempt-to-leave-the-line': {
    needs: { traffic: ['locks'], faults: ['reset'] },
    why: 'A znode whose delete was lost blocks the key until the session ends.',
    alsoFinds: ['leftovers'],
    failsIn: { spec: 'test/integration/lost-replies.spec.ts', test: 'is sent again when it did not arrive' },
  },
  'everybody-watches-the-first': {
    needs: {
      traffic: ['locks'],
      faults: ['none'],
      besides: 'several processes that wait for a key',
      plan: { crowdKinds: ['waiters'], programs: ['crowd'], apps: 6, localLine: false, crowdSizes: [2], clients: 2 },
    },
    why: 'Each release wakes all waiters, and all of them ask the servers.',
    failsIn: {
      spec: 'test/unit/zookeeper/recipes/wait-queue-snapshot.spec.ts',
      test: 'is a chain: each waits for the one right before it',
    },
  },
  'wake-up-is-taken-for-the-grant': {
    needs: { traffic: ['locks'], faults: ['reset'] },
    why: 'A watch that fires for another reason, such as a reconnect, lets a waiter in beside the holder.',
    alsoFinds: ['fencing tokens'],
    failsIn: {
      spec: 'test/unit/zookeeper/recipes/wait-for-turn.spec.ts',
      test: 'does not take its turn from the nearest alone: one before it still holds',
    },
  },
  'the-next-of-the-process-does-not-wait-for-the-release': {
    needs: {
      traffic: ['locks'],
      faults: ['none'],
      besides: 'localLine: false, and several callers of one process on a key',
      plan: { localLine: false, clients: 3 },
    },
    why: 'The next contender of the process takes the holder’s for one that is leaving.',
    alsoFinds: ['fencing tokens'],
    failsIn: { spec: 'test/integration/mutex.spec.ts', test: 'is held by one session at a time' },
  },
  'any-number-follows-the-own-last-one': {
    needs: {
      traffic: ['locks'],
      faults: ['none'],
      besides: 'a process that takes a key again and again, and others',
      plan: { localLine: false, clients: 3 },
    },
    why: 'A contender of another process in between is not noticed, and two hold the key.',
    alsoFinds: ['fencing tokens'],
    failsIn: {
      spec: 'test/unit/zookeeper/recipes/sequence-fast-path.spec.ts',
      test: 'is not when the number is not the next one',
    },
  },
  'a-try-is-refused-beside-a-reader': {
    needs: {
      traffic: ['try', 'read-write'],
      faults: ['none'],
      plan: {
        crowdKinds: ['readers'],
        programs: ['crowd', 'locks'],
        kinds: ['try', 'read'],
        localLine: true,
        crowdSizes: [3],
      },
    },
    why: 'A reader that asks once is told that the key is taken, although readers have it.',
    failsIn: {
      spec: 'test/unit/local/readers.spec.ts',
      test: 'is let in at once while it is not known whether a writer waits',
    },
  },
  'token-is-the-sequence-number': {
    needs: { traffic: ['locks'], faults: ['reap'] },
    why: 'The servers remove the empty directory, and the numbers begin again below those that the store has seen.',
    failsIn: {
      spec: 'test/integration/parents.spec.ts',
      test: 'are removed by the servers when empty, and the token still grows when they are made again',
    },
  },
};

/** The defects of the robustness suite. The checks that find them on real servers find them here. */
// Simulated processes have their locks on ZooKeeper.
const ON_ZOOKEEPER = PLANTED.filter(({ backend }) => backend === undefined);

export const ROBUSTNESS: readonly Defect[] = ON_ZOOKEEPER.map(({ name, edits, finds }): Defect => {
  const rest = RESTS[name];
  if (!rest) throw new Error(`what "${name}" needs is not known`);
  const { alsoFinds = [], ...others } = rest;
  return { name, edits, finds: [finds as Check, ...alsoFinds], ...others };
});
