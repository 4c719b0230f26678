import { FAST_LINKS } from './defect.js';
import type { Defect } from './defect.js';

const LOCAL_TURN = 'local/hand-over-limit.js';

/** Defects in the order of contenders, and in what a session knows of it. */
const QUEUES: readonly Defect[] = [
  {
    name: 'second-in-line-takes-its-turn',
    edits: [
      {
        file: 'zookeeper/recipes/wait-for-turn.js',
        replace: 'queue.predecessors(contender)?.length === 0',
        by: 'queue.predecessors(contender)?.length <= 1',
      },
    ],
    needs: { traffic: ['locks'], faults: ['none'] },
    finds: ['exclusion', 'fencing tokens'],
    why: 'Whoever stands behind the holder holds as well.',
    failsIn: {
      spec: 'test/unit/zookeeper/recipes/wait-for-turn.spec.ts',
      test: 'does not overtake one of another session that stands between them',
    },
  },
  {
    name: 'order-is-by-name',
    edits: [
      {
        file: 'zookeeper/recipes/contender-znode.js',
        replace: 'return (a.number - b.number) | 0;',
        by: 'return a.name < b.name ? -1 : Number(a.name > b.name);',
      },
    ],
    needs: { traffic: ['locks'], faults: ['none'] },
    finds: ['exclusion', 'fencing tokens', 'fifo'],
    why: 'Names begin with an id that chance has made: a contender that comes later stands before the holder.',
    failsIn: {
      spec: 'test/unit/zookeeper/recipes/wait-queue-snapshot.spec.ts',
      test: 'are ordered by the number and not by the id',
    },
  },
  {
    name: 'writer-does-not-wait-for-readers',
    edits: [
      {
        file: 'zookeeper/recipes/contender-znode.js',
        replace: "return me.kind !== 'read' || other.kind !== 'read';",
        by: "return other.kind !== 'read';",
      },
    ],
    needs: { traffic: ['read-write'], faults: ['none'] },
    finds: ['exclusion', 'register'],
    why: 'A writer is let in beside readers, which see half of what it writes.',
    failsIn: {
      spec: 'test/unit/zookeeper/recipes/wait-queue-snapshot.spec.ts',
      test: 'makes each wait for the nearest that excludes it',
    },
  },
  {
    name: 'downgrade-in-two-transactions',
    edits: [
      {
        file: 'zookeeper/recipes/downgrade.js',
        replace: 'const { results, zxid } = await session.requests.multi(ops);',
        by:
          'await session.requests.delete(writerPath).catch(() => {}); ' +
          'const { results, zxid } = await session.requests.multi(ops.slice(0, 1));',
      },
    ],
    needs: { traffic: ['downgrade'], faults: ['none'] },
    finds: ['exclusion', 'register'],
    why: 'Between the two the next writer is let in, and the former one reads beside it.',
    failsIn: {
      spec: 'test/integration/downgrade.spec.ts',
      test: 'has the writer’s number, and a znode at every moment',
    },
  },
  {
    name: 'reconnect-keeps-what-watches-told',
    edits: [
      {
        file: 'zookeeper/recipes/wait-queue-view.js',
        replace: 'this.#epoch === this.#session.epoch && this.#snapshot',
        by: 'this.#snapshot',
      },
    ],
    needs: {
      traffic: ['locks'],
      faults: ['reset', 'delete-node'],
      plan: { isInCompany: true, clients: 3, busyKeys: ['stock'], isBusy: true },
    },
    finds: ['exclusion', 'fencing tokens'],
    why: 'What fires with a reconnect is in no order: a waiter whose own znode is gone takes its turn.',
    failsIn: {
      spec: 'test/unit/zookeeper/recipes/wait-for-turn.spec.ts',
      test: 'looks again after a reconnect, because what is told then is in no order',
    },
  },
  {
    name: 'fast-path-outlives-the-connection',
    edits: [
      {
        file: 'zookeeper/recipes/shortcuts/sequence-fast-path.js',
        replace: '!incarnation.isOver && incarnation.epoch === this.#session.epoch',
        by: '!incarnation.isOver',
      },
    ],
    needs: {
      traffic: ['locks'],
      faults: ['reset', 'reap'],
      plan: {
        isInCompany: true,
        localLine: false,
        clients: 2,
        busyKeys: ['stock'],
        world: { containerCheckIntervalMs: 20 },
      },
    },
    finds: ['exclusion', 'fencing tokens'],
    why: 'The directory was made anew while the connection was away, and the next number is somebody else’s as well.',
    failsIn: {
      spec: 'test/unit/zookeeper/recipes/sequence-fast-path.spec.ts',
      test: 'is not over another connection',
    },
  },
  {
    name: 'entry-delay-forgets-the-others',
    edits: [
      {
        file: 'zookeeper/recipes/shortcuts/create-batching.js',
        replace: 'while (this.#held.size > 0)',
        by: 'if (this.#held.size > 0)',
      },
    ],
    needs: {
      traffic: ['locks'],
      faults: ['none'],
      besides: 'localLine: false, and more than four callers of one process on a key',
      plan: { crowdKinds: ['waiters'], programs: ['crowd'], localLine: false, crowdSizes: [8], clients: 2 },
    },
    finds: ['liveness', 'outcomes'],
    why: 'Of those that are held back together one is sent, and the others wait for their time-outs.',
    failsIn: {
      spec: 'test/unit/zookeeper/recipes/create-batching.spec.ts',
      test: 'comes in a moment later, with those that came meanwhile, in their order and with one list',
    },
  },
  {
    name: 'first-in-a-directory-that-was-there',
    edits: [
      {
        file: 'zookeeper/recipes/protected-create.js',
        replace: 'return withList(session, directory, create);',
        by: 'return { nodes: await create, listed: (await create).map(({ path }) => path.slice(directory.path.length + 1)) };',
      },
    ],
    needs: { traffic: ['locks'], faults: ['none'] },
    finds: ['exclusion', 'fencing tokens'],
    why: 'A directory that another process has created is taken for a new one, and its contenders are not seen.',
    failsIn: {
      spec: 'test/integration/mutex.spec.ts',
      test: 'is held by one session at a time',
    },
  },
  {
    name: 'removal-takes-the-contenders-along',
    edits: [
      {
        file: 'zookeeper/recipes/key-directories.js',
        replace: 'const { results } = await',
        by: `
          for (const { path } of directories) {
            const names = await this.#session.requests.children(path).catch(() => []);
            ops.unshift(...names.map((name) => ({ type: 'delete', path: path + '/' + name })));
          }
          const { results } = await`,
      },
    ],
    needs: { traffic: ['locks'], faults: ['none'], plan: { isInCompany: true, clients: 2, busyKeys: ['stock'] } },
    finds: ['exclusion', 'claim', 'outcomes', 'fifo', 'fencing tokens'],
    why: 'A directory that looked idle is removed although a contender of another process has just entered it.',
    failsIn: {
      spec: 'test/integration/single-use-keys.spec.ts',
      test: 'stay as long as another process waits, or holds',
    },
  },
  {
    name: 'revocation-is-not-heard',
    edits: [{ file: 'zookeeper/recipes/own-node-watch.js', replace: 'if (isRevoked(data))', by: 'if (!data)' }],
    needs: { traffic: ['revoke'], faults: ['none'] },
    finds: ['outcomes', 'liveness'],
    why: 'A holder that is asked to give way works on until its key is taken by force.',
    failsIn: {
      spec: 'test/integration/revocation.spec.ts',
      test: 'is given back by a holder that is asked to, and nobody is hurt',
    },
  },
];

/** Defects by which requests leave something behind, are sent twice, or are lost. */
const REQUESTS: readonly Defect[] = [
  {
    name: 'caller-that-gives-up-on-the-way-leaves-its-znode',
    edits: [
      {
        file: 'zookeeper/recipes/wait-for-turn.js',
        replace: 'entering.then((entry) => entry.contender.leave(LEAVING_MS))',
        by: 'entering.then(() => {})',
      },
    ],
    needs: { traffic: ['locks'], faults: ['slow'], plan: { kinds: ['aborted'] } },
    finds: ['leftovers', 'liveness'],
    why: 'The create is answered when its caller has gone, and the znode blocks the key until the session ends.',
    failsIn: {
      spec: 'test/integration/lost-replies.spec.ts',
      test: 'is removed when its caller has given up meanwhile',
    },
  },
  {
    name: 'lost-create-is-looked-for-without-a-sync',
    edits: [
      {
        file: 'zookeeper/recipes/protected-create.js',
        replace: 'await session.requests.sync(directory.path);',
        by: '',
      },
    ],
    needs: {
      traffic: ['locks'],
      faults: ['lost-reply', 'lag'],
      plan: { ops: ['create2', 'createContainer', 'multi'] },
    },
    finds: ['leftovers', 'liveness'],
    why: 'The server now connected has not heard of the create yet: it is made twice, and nobody deletes the first.',
    failsIn: undefined,
  },
  {
    name: 'lost-requests-are-never-answered',
    edits: [
      {
        file: 'zookeeper/client/pending-request.js',
        replace: 'this.#driver.queue(request, () => request.fail(ErrorCode.connectionLoss));',
        by: 'this.#driver.queue(request, () => {});',
      },
    ],
    needs: { traffic: ['locks'], faults: ['reset'] },
    finds: ['liveness'],
    why: 'What was on its way when the connection ended is never answered, and its caller waits for ever.',
    failsIn: {
      spec: 'test/integration/lost-replies.spec.ts',
      test: 'is sent again when it did not arrive',
    },
  },
  {
    name: 'always-the-same-server',
    edits: [{ file: 'zookeeper/client/dialer.js', replace: 'this.#next++;', by: '' }],
    needs: { traffic: ['locks'], faults: ['freeze'], plan: { keptShare: 0.9, world: { link: FAST_LINKS } } },
    finds: ['liveness'],
    why: 'A client comes back to the server that does not answer, again and again.',
    failsIn: {
      spec: 'test/unit/zookeeper/client/server-rotation.spec.ts',
      test: 'tries each once, then each again in the same order',
    },
  },
  {
    name: 'group-commit-turns-the-order',
    edits: [
      {
        file: 'zookeeper/client/outbox.js',
        replace: '...groups.known.all,',
        by: '...groups.known.all.toReversed(),',
      },
    ],
    needs: {
      traffic: ['locks'],
      faults: ['none'],
      besides: 'localLine: false, and several callers of one process on a key in one turn',
      plan: { crowdKinds: ['waiters'], programs: ['crowd'], localLine: false, crowdSizes: [8], clients: 2 },
    },
    finds: ['fifo', 'liveness'],
    why: 'Those that ask in one turn come in in the opposite order.',
    failsIn: {
      spec: 'test/unit/zookeeper/client/outbox.spec.ts',
      test: 'is sent exactly once, in order in each directory, in transactions that keep the rules',
    },
  },
  {
    name: 'two-contenders-of-a-directory-in-one-transaction',
    edits: [
      {
        file: 'zookeeper/client/outbox.js',
        replace: 'directory === undefined ? place : place + 1',
        by: 'place',
      },
    ],
    needs: {
      traffic: ['locks'],
      faults: ['none'],
      besides: 'localLine: false, and several callers of one process on a key in one turn',
      plan: { crowdKinds: ['waiters'], programs: ['crowd'], localLine: false, crowdSizes: [8], clients: 2 },
    },
    finds: ['fencing tokens'],
    why: 'Two holders, one after the other, have the same token: the store takes the late write of the first.',
    failsIn: {
      spec: 'test/unit/zookeeper/client/outbox.spec.ts',
      test: 'never are two in one directory in one transaction: they would share a token',
    },
  },
];

/** Defects in how a process coordinates its own callers. */
const PROCESS: readonly Defect[] = [
  {
    name: 'hand-overs-share-a-token',
    edits: [
      {
        file: 'contract/granted-lease.js',
        replace: 'return handOver === 0 ? token : token + BigInt(handOver);',
        by: 'return token;',
      },
    ],
    needs: {
      traffic: ['locks'],
      faults: ['none'],
      besides: 'several callers of one process on a key',
      plan: { localLine: true, clients: 3 },
    },
    finds: ['fencing tokens'],
    why: 'Callers of one process have the same token: the store takes the late write of the first.',
    failsIn: {
      spec: 'test/unit/local/local-queue.spec.ts',
      test: 'have a token each, every one larger than all before it',
    },
  },
  {
    name: 'hand-overs-count-down',
    edits: [{ file: 'contract/granted-lease.js', replace: 'token + BigInt(handOver)', by: 'token - BigInt(handOver)' }],
    needs: {
      traffic: ['locks'],
      faults: ['none'],
      besides: 'several callers of one process on a key',
      plan: { localLine: true, clients: 3 },
    },
    finds: ['fencing tokens'],
    why: 'A later caller has a smaller token, and the store refuses its writes.',
    failsIn: {
      spec: 'test/unit/local/local-queue.spec.ts',
      test: 'have a token each, every one larger than all before it',
    },
  },
  {
    name: 'hand-overs-without-a-bound',
    edits: [{ file: LOCAL_TURN, replace: 'if (share < 1)', by: 'if (share < Infinity)' }],
    needs: {
      traffic: ['locks'],
      faults: ['none'],
      besides: 'a process whose callers come one after another without a gap',
      plan: { localLine: true, clients: 8, busyKeys: ['stock'] },
    },
    finds: ['liveness', 'fifo', 'turns'],
    why: 'A busy process hands the key on among its callers, and no other process ever gets it.',
    failsIn: {
      spec: 'test/unit/local/hand-over-limit.spec.ts',
      test: 'are bounded by their count when another process waits',
    },
  },
  {
    name: 'set-keeps-its-first-key-when-it-gives-up',
    edits: [
      { file: 'composite/multi-lock.js', replace: 'await releaseInReverse(leases)', by: 'await Promise.resolve()' },
    ],
    needs: { traffic: ['multi'], faults: ['none'], plan: { clients: 2 } },
    finds: ['liveness', 'leftovers'],
    why: 'A set that times out on its second key holds the first until the process ends.',
    failsIn: {
      spec: 'test/unit/composite/multi-lock.spec.ts',
      test: 'are all or none: those acquired are given back when one cannot be had',
    },
  },
  {
    name: 'set-is-acquired-in-the-order-written',
    edits: [
      {
        file: 'composite/multi-lock.js',
        replace: 'return [...distinct.values()].sort((a, b) => (a.identity < b.identity ? -1 : 1));',
        by: 'return [...distinct.values()];',
      },
    ],
    needs: {
      traffic: ['multi'],
      faults: ['none'],
      besides: 'sets of the same keys in opposite orders',
      plan: { clients: 2 },
    },
    finds: ['liveness', 'outcomes'],
    why: 'Two callers that name two keys in opposite orders wait for each other until one times out.',
    failsIn: {
      spec: 'test/unit/composite/multi-lock.spec.ts',
      test: 'are acquired in one order whatever order they are written in, each once',
    },
  },
];

/** Defects in the order of contenders, in requests to the servers, and inside a process. */
export const RECIPES: readonly Defect[] = [...QUEUES, ...REQUESTS, ...PROCESS];
