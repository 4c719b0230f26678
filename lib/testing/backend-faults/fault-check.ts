import assert from 'node:assert/strict';
import { FaultStage } from './fault-stage.js';
import type { SessionLength } from './fault-stage.js';
import type { FaultAbility, FaultServer, FaultSubject } from './fault-subject.js';

/** One promise under one fault, and its check. */
export interface FaultCheck {
  /** The fault that the check is about. */
  readonly part: string;
  /** The promise, in words. */
  readonly title: string;
  /** The faults that the subject has to cause for it. */
  readonly needs?: FaultAbility | undefined;
  /** Rejects with an `AssertionError` when the backend does not keep the promise. */
  readonly run: (subject: FaultSubject) => Promise<void>;
}

interface Play {
  /** The length of the clients' sessions. With long ones, no session ends, however busy the machine is. */
  readonly sessions: SessionLength;
  readonly play: (stage: FaultStage) => Promise<void>;
}

const MEMBERS = { pause: ['freeze', 'thaw'], restart: ['kill', 'restart'], expire: [] } as const satisfies Record<
  FaultAbility,
  readonly (keyof FaultServer)[]
>;

/** Returns the checks of one part. Each runs on a stage of its own, and is judged by its whole history. */
export function faultChecksOf(part: string, plays: Readonly<Record<string, Play>>, needs?: FaultAbility) {
  return Object.entries(plays).map(([title, { sessions, play }]): FaultCheck => {
    const run = async (subject: FaultSubject) => {
      if (needs) assertAble(subject, needs);
      const stage = await FaultStage.open(subject, sessions);
      try {
        await play(stage);
        await stage.judge();
      } catch (error) {
        // Report the original error: a backend that broke one promise may not be able to close either.
        await stage.close().catch(() => {});
        throw error;
      }
      await stage.close();
    };
    return { part, title, needs, run };
  });
}

/** @throws AssertionError when the subject neither has an ability nor declares why not */
function assertAble({ server, expire }: FaultSubject, ability: FaultAbility): void {
  const running = server();
  const isAble = ability === 'expire' ? expire !== undefined : MEMBERS[ability].every((member) => running[member]);
  assert.ok(isAble, `the subject cannot cause "${ability}": give it, or say in \`without.${ability}\` why not`);
}
