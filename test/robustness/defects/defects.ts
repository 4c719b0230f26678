import type { Edit } from '../../support/edit.js';
import type { BackendName } from '../servers/servers.js';
import type { Finding } from '../validate/finding.js';

/** A fault that is planted in the library itself: one that other clients had, or one that is easy to make. */
export interface Defect {
  readonly name: string;
  /** The backend that has the defect. Default ZooKeeper. */
  readonly backend?: BackendName;
  readonly scenario: string;
  /** The check that has to detect the defect. */
  readonly finds: Finding['check'];
  readonly edits: readonly Edit[];
}

export const DEFECTS: readonly Defect[] = [
  {
    name: 'no-clock-of-its-own',
    scenario: 'links',
    finds: 'exclusion',
    edits: [
      {
        file: 'zookeeper/session/session.js',
        replace: 'new LeaseClock(handshake.timeoutMs, handshake.sentAt)',
        by: 'Object.defineProperty(new LeaseClock(handshake.timeoutMs, handshake.sentAt), "deadline", { value: Infinity })',
      },
    ],
  },
  {
    // As in most clients: pings are heartbeats, and an answered ping counts as proof.
    name: 'an-answered-ping-proves-the-session',
    scenario: 'partitions',
    finds: 'exclusion',
    edits: [
      { file: 'zookeeper/session/heartbeat.js', replace: 'if (places.length === 0)', by: 'if (places)' },
      {
        file: 'zookeeper/session/lease-clock.js',
        replace: 'if (isQuorum)',
        by: 'this.#provenAt = Math.max(this.#provenAt, sentAt); if (isQuorum)',
      },
    ],
  },
  {
    name: 'lost-create-is-made-again',
    scenario: 'links',
    finds: 'liveness',
    edits: [
      {
        file: 'zookeeper/recipes/protected-create.js',
        replace: 'nodes: await findAgain(session, directory, attempt.find, error),',
        by: 'nodes: [],',
      },
    ],
  },
  {
    name: 'one-attempt-to-leave-the-line',
    scenario: 'links',
    finds: 'liveness',
    edits: [
      {
        file: 'zookeeper/recipes/contender.js',
        replace: 'await session.surely(attempt);',
        by: '{}',
      },
    ],
  },
  {
    name: 'everybody-watches-the-first',
    scenario: 'line',
    finds: 'wake-ups',
    edits: [
      {
        file: 'zookeeper/recipes/wait-queue-snapshot.js',
        replace: 'for (let at = last; at >= this.#first && found.length < most; at--) {',
        by: 'for (let at = this.#first; at <= last && found.length < most; at++) {',
      },
    ],
  },
  {
    name: 'wake-up-is-taken-for-the-grant',
    scenario: 'links',
    finds: 'exclusion',
    edits: [
      {
        file: 'zookeeper/recipes/wait-for-turn.js',
        replace: 'return isFirst(place) ? Promise.resolve() : limit.next();',
        by: 'return isFirst(place) ? Promise.resolve() : limit.next().then(() => { this.isNow = () => true; });',
      },
    ],
  },
  {
    name: 'the-next-of-the-process-does-not-wait-for-the-release',
    scenario: 'calm',
    finds: 'exclusion',
    edits: [
      {
        file: 'zookeeper/recipes/zookeeper-lease.js',
        replace: 'this.lease = new GrantedLease(this);',
        by: 'this.lease = new GrantedLease(this); contenders.forEach((each) => each.queue.leaving(each));',
      },
    ],
  },
  {
    name: 'any-number-follows-the-own-last-one',
    scenario: 'calm',
    finds: 'exclusion',
    edits: [
      {
        file: 'zookeeper/recipes/shortcuts/sequence-fast-path.js',
        replace: 'number === this.#last.number + 1;',
        by: 'number > this.#last.number;',
      },
    ],
  },
  {
    name: 'a-try-is-refused-beside-a-reader',
    scenario: 'calm',
    finds: 'refusals',
    edits: [
      {
        file: 'local/shared-lease.js',
        replace: "if (this.mode === 'read')",
        by: 'if (this.mode === "read" && bounds === "kept")',
      },
      {
        file: 'local/local-queue.js',
        replace: "if (mode === 'read')",
        by: 'if (!mode)',
      },
    ],
  },
  {
    name: 'token-is-the-sequence-number',
    scenario: 'calm',
    finds: 'fencing tokens',
    edits: [
      {
        file: 'zookeeper/recipes/zookeeper-lease.js',
        replace: 'this.fencingToken = fencingTokenOf(nodes.czxid);',
        by: 'this.fencingToken = BigInt(Number(/\\d+$/.exec(contenders[0].name)[0]));',
      },
    ],
  },
  {
    name: 'a-restarted-server-grants-at-once',
    backend: 'redis',
    scenario: 'everything',
    finds: 'exclusion',
    edits: [
      {
        file: 'redis/scripts/session-scripts.js',
        replace: 'calm = longest > 0 and since + longest or 0',
        by: 'calm = 0',
      },
    ],
  },
  {
    name: 'no-clock-of-its-own-on-redis',
    backend: 'redis',
    scenario: 'links',
    finds: 'exclusion',
    edits: [
      {
        file: 'redis/session/redis-session.js',
        replace: 'return provenUntil(this.#provenAt, this.#timeoutMs);',
        by: 'return Infinity;',
      },
    ],
  },
  {
    name: 'no-clock-of-its-own-on-etcd',
    backend: 'etcd',
    scenario: 'links',
    finds: 'exclusion',
    edits: [
      {
        file: 'etcd/session/etcd-session.js',
        replace: 'return provenUntil(this.#provenAt, this.#timeoutMs);',
        by: 'return Infinity;',
      },
    ],
  },
  {
    name: 'an-event-of-the-watch-is-taken-for-the-grant',
    backend: 'etcd',
    scenario: 'calm',
    finds: 'exclusion',
    edits: [{ file: 'etcd/locks/contender.js', replace: 'if (place.isTurn)', by: 'if (place)' }],
  },
];

export function defectNamed(name: string): Defect {
  const defect = DEFECTS.find((one) => one.name === name);
  if (!defect) throw new Error(`no defect "${name}"; there are ${DEFECTS.map((one) => one.name).join(', ')}`);
  return defect;
}
