import { DEEP_KEY } from '../traffic/keys.js';
import type { Defect } from './defect.js';

const brokenSetTest = (test: string) => ({ spec: 'test/unit/composite/broken-set.spec.ts', test });
const pathTest = (test: string) => ({ spec: 'test/unit/zookeeper/recipes/znode-path.spec.ts', test });

/** Defects by which names collide. */
export const NAMES: readonly Defect[] = [
  {
    name: 'without-a-queue-all-share-a-name',
    edits: [
      {
        file: 'zookeeper/recipes/protected-create.js',
        replace: 'const node = { name, mode: CreateMode.ephemeralSequential, data };',
        by:
          "const node = keeps === 'never' ? { name: 'lock-0000000000', mode: CreateMode.ephemeral, data } : " +
          '{ name, mode: CreateMode.ephemeralSequential, data };',
      },
      {
        file: 'zookeeper/recipes/mutex.js',
        replace: "const entering = enterQueue(session, directory, 'lock', request, fastPath);",
        by:
          "if (request.line === 'none') return acquireEntered(session, directory, request, enterQueue(session, directory, " +
          "'lock', { ...request, keeps: 'never' }), turnIfFirst()).catch((error) => { if (error.code === -110) return null; " +
          "throw error; }); const entering = enterQueue(session, directory, 'lock', request, fastPath);",
      },
    ],
    needs: { traffic: ['none', 'revoke'], faults: ['delete-node'] },
    finds: ['exclusion', 'fencing tokens'],
    why: 'A former holder whose znode was taken away deletes its successor’s when it releases, and two hold the key.',
    failsIn: {
      spec: 'test/integration/no-line.spec.ts',
      test: 'does not give away the key of the next holder when %s',
    },
  },
  {
    name: 'keys-may-read-like-contenders',
    edits: [
      {
        file: 'zookeeper/recipes/znode-path.js',
        replace: "return encoded(key).split('/').map(withoutMark);",
        by: "return encoded(key).split('/');",
      },
    ],
    needs: {
      traffic: ['locks'],
      faults: ['none'],
      besides: 'the keys chain and chain/block-0000000000',
      plan: { busyKeys: ['chain', 'chain/block-0000000000', 'chain/lock-0000000000'] },
    },
    finds: ['liveness', 'outcomes'],
    why: 'The key chain/block-0000000000 stands in the queue of chain, before all others.',
    failsIn: pathTest('is escaped in a relative key, wherever it stands: %s'),
  },
  {
    name: 'keys-may-be-parts-of-a-semaphore',
    edits: [
      {
        file: 'zookeeper/recipes/znode-path.js',
        replace: 'return [first, ...below.map(withoutPart)];',
        by: 'return [first, ...below];',
      },
    ],
    needs: {
      traffic: ['semaphore', 'locks'],
      faults: ['none'],
      besides: 'the semaphore pool, and mutexes on pool/locks and pool/permits',
      plan: { busyKeys: ['printers/locks', 'printers/leases'] },
    },
    finds: ['liveness', 'permits', 'outcomes'],
    why: 'A mutex on pool/locks blocks the semaphore pool.',
    failsIn: pathTest('is escaped below a key: %s'),
  },
  {
    name: 'deep-parents-are-found-one-by-one',
    edits: [
      {
        file: 'zookeeper/recipes/create-node.js',
        replace: 'const isDeep = missing >= MOST_TRIED_LEVELS && ancestors.length > MOST_TRIED_LEVELS;',
        by: 'const isDeep = false;',
      },
    ],
    needs: {
      traffic: ['locks'],
      faults: ['none'],
      besides: 'a key of more than 64 levels',
      plan: { busyKeys: ['stock', DEEP_KEY] },
    },
    finds: ['liveness', 'outcomes'],
    why: 'A key of many levels is told to be out of reach.',
    failsIn: { spec: 'test/integration/nested-keys.spec.ts', test: 'is granted: %s' },
  },
  {
    name: 'services-share-their-names',
    edits: [{ file: 'service/service-names.js', replace: '`${service}/${owned.name}`', by: 'owned.name' }],
    needs: {
      traffic: ['election', 'queue', 'value'],
      faults: ['none'],
      besides: 'two services with the same names',
      plan: { services: 2 },
    },
    finds: ['terms', 'queue', 'values', 'liveness'],
    why: 'Two services have one leader, one queue and one counter, and one of them starves in silence.',
    failsIn: { spec: 'test/nest/services.spec.ts', test: 'do not share %s' },
  },
  {
    name: 'shared-count-is-looked-for-elsewhere',
    edits: [
      {
        file: 'zookeeper/zookeeper-permits.js',
        replace: 'return connect.chroot + countPath(sharedCount, basePath);',
        by: 'return this.#directoryOf(sharedCount).path;',
      },
    ],
    needs: {
      traffic: ['semaphore'],
      faults: ['none'],
      besides: 'the semaphore pool, a semaphore with sharedCount pool/permits, and setPermits',
      plan: { programs: ['permits'], clients: 2 },
    },
    finds: ['permits'],
    why: 'A semaphore that shares the number of another one goes by a number of its own.',
    failsIn: {
      spec: 'test/integration/semaphore.spec.ts',
      test: 'is the one of another semaphore, as the key of that number is written',
    },
  },
  {
    name: 'number-of-permits-is-written-over-anything',
    edits: [{ file: 'zookeeper/recipes/permit-count.js', replace: 'this.#parsed(there.data);', by: '' }],
    needs: {
      traffic: ['semaphore', 'locks'],
      faults: ['reap'],
      besides: 'a sharedCount that is the path of a lock, and setPermits',
    },
    finds: ['permits', 'outcomes'],
    why: 'The number goes with the directory of the lock, and the semaphore falls back to its own in silence.',
    failsIn: {
      spec: 'test/integration/semaphore.spec.ts',
      test: 'is not written into the directory of a lock, which goes with the lock',
    },
  },
  {
    name: 'forgets-the-job-of-another-service',
    edits: [
      {
        file: 'schedule/cron-runs.service.js',
        replace: '!isAbsolute(run.key) && (run.name === name || run.key === name)',
        by: 'run.name === name || run.key === name',
      },
    ],
    needs: {
      traffic: ['cron'],
      faults: ['none'],
      besides: 'two services, a job whose key is a path, and forget() of its name by the service that has none of it',
      plan: { services: 2 },
    },
    finds: ['runs'],
    why: 'A tick runs twice, because another service has forgotten the run by the job’s name.',
    failsIn: {
      spec: 'test/nest/services.spec.ts',
      test: 'does not find a job of another service by its name, when the key of that job is a path',
    },
  },
  {
    name: 'set-that-gives-up-spins',
    edits: [
      {
        file: 'composite/multi-lock.js',
        replace: 'isOfLease && !isCallers && !this.#isOfOuter(error)',
        by: 'isOfLease && !this.#isOfOuter(error)',
      },
      { file: 'composite/multi-lock.js', replace: 'options.signal?.throwIfAborted();', by: '' },
    ],
    needs: {
      traffic: ['multi'],
      faults: ['expiry'],
      besides: 'sets that are acquired under the signal of a lease',
      plan: { programs: ['sets'], clients: 2 },
    },
    finds: ['liveness', 'outcomes'],
    why: 'A set whose caller gives up by the signal of another lease begins rounds without a pause until its time is over.',
    failsIn: brokenSetTest('rejects with the caller’s own reason when that is another lease that was %s'),
  },
];
