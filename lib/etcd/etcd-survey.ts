/**
 * The survey of the keys of wait queues, which are read page by page in the order of their names. The entries of one
 * wait queue follow each other.
 */
import { limited } from '../async/timer.js';
import type { Survey, SurveyedKey, SurveyedQueue, SurveyQuestion } from '../contract/survey.js';
import { countedBy, described } from './etcd-locks.js';
import { entryOf, inOrder, turnsOf } from './locks/entry.js';
import type { Entry } from './locks/entry.js';
import { nameBelow, rangeBelow } from './session/etcd-keys.js';
import type { EtcdSession } from './session/etcd-session.js';
import type { EtcdSessions } from './session/etcd-sessions.js';
import { inSession } from './session/in-session.js';
import type { KeyValue } from './wire/responses.js';

const PAGE = 500;

const KINDS = { lock: 'lock', permits: 'semaphore', election: 'election' } as const;
type Kind = keyof typeof KINDS;

/** The findings of a survey so far. */
interface Findings {
  readonly keys: SurveyedKey[];
  readonly queues: SurveyedQueue[];
  isTruncated: boolean;
}

/** @throws `question.signal.reason`, LockUnavailableError, LockConfigurationError */
export async function surveyOf(sessions: EtcdSessions, question: SurveyQuestion): Promise<Survey> {
  const call = { key: question.prefix || 'survey', wait: false, signal: question.signal, workMs: question.withinMs };
  return inSession(sessions, call, async (session, signal) => {
    const findings: Findings = { keys: [], queues: [], isTruncated: false };
    const isComplete = await limited(question.withinMs, signal, async (limit) => {
      // One after the other, so that the survey has one request under way.
      for (const kind of ['lock', 'permits', 'election'] as const) {
        await lookAtKeys(session, kind, question, findings, limit);
      }
      await lookAtQueues(session, question, findings, limit);
      return true;
    });
    return { ...findings, isTruncated: findings.isTruncated || isComplete !== true };
  });
}

async function lookAtKeys(
  session: EtcdSession,
  kind: Kind,
  question: SurveyQuestion,
  findings: Findings,
  signal: AbortSignal,
): Promise<void> {
  const add = async (key: string, found: readonly KeyValue[]) => {
    if (!hasRoom(findings, question)) return false;
    findings.keys.push(await surveyed(session, kind, key, found, question.mostContenders, signal));
    return true;
  };
  await eachName(session, session.keys.of(kind, ''), question.prefix ?? '', 'values', signal, add);
}

async function lookAtQueues(
  session: EtcdSession,
  question: SurveyQuestion,
  findings: Findings,
  signal: AbortSignal,
): Promise<void> {
  const add = async (key: string, found: readonly KeyValue[]) => {
    const above = `${session.keys.below('items', key)}item/`;
    const items = found.filter((one) => one.key.startsWith(above)).length;
    if (items === 0) return true;
    if (!hasRoom(findings, question)) return false;
    findings.queues.push({ key, items });
    return true;
  };
  await eachName(session, session.keys.of('items', ''), question.prefix ?? '', 'keys', signal, add);
}

/** Whether there may be another key. */
function hasRoom(findings: Findings, { mostKeys }: SurveyQuestion): boolean {
  if (findings.keys.length + findings.queues.length >= mostKeys) findings.isTruncated = true;
  return !findings.isTruncated;
}

/**
 * Calls `add` for each name with that prefix, with all its keys, until it returns false.
 * @param above the beginning of the keys of all names
 */
async function eachName(
  session: EtcdSession,
  above: string,
  prefix: string,
  read: 'keys' | 'values',
  signal: AbortSignal,
  add: (name: string, found: readonly KeyValue[]) => Promise<boolean>,
): Promise<void> {
  const { end } = rangeBelow(above);
  let key = above + prefix;
  let name: string | undefined;
  let all: KeyValue[] = [];
  const only = read === 'keys' ? ({ only: 'keys' } as const) : {};
  for (;;) {
    const { results } = await session.read([{ kind: 'read', key, end, limit: PAGE, ...only }], signal);
    const { found = [], hasMore = false } = results[0] ?? {};
    for (const one of found) {
      if (!one.key.startsWith(above + prefix)) return void (name !== undefined && (await add(name, all)));
      const next = nameBelow(one.key, above);
      if (next !== name) {
        if (name !== undefined && !(await add(name, all))) return;
        name = next;
        all = [];
      }
      all.push(one);
    }
    const last = found.at(-1);
    if (!hasMore || !last) return void (name !== undefined && (await add(name, all)));
    // The next name in the order of bytes.
    key = `${last.key}\0`;
  }
}

async function surveyed(
  session: EtcdSession,
  kind: Kind,
  key: string,
  found: readonly KeyValue[],
  most: number,
  signal: AbortSignal,
): Promise<SurveyedKey> {
  const entries: Entry[] = inOrder(found.map((kv) => entryOf(kv)));
  const number = kind === 'permits' ? await numberOf(session, key, entries, signal) : undefined;
  const holding = turnsOf(entries, number);
  const contender = (entry: Entry, place: number) => described(entry, session.id, place < holding);
  const all = [...entries.slice(0, Math.min(holding, most)), ...entries.slice(holding, holding + most)];
  const first = all.map((entry) => contender(entry, entries.indexOf(entry)));
  return {
    key,
    kind: KINDS[kind],
    holders: first.filter(({ state }) => state === 'held'),
    holding,
    waiters: first.filter(({ state }) => state === 'waiting'),
    waiting: entries.length - holding,
  };
}

/** The recorded number of permits that the entries count by, if there is one. */
async function numberOf(
  session: EtcdSession,
  key: string,
  entries: readonly Entry[],
  signal: AbortSignal,
): Promise<number | undefined> {
  const { number } = countedBy(session, session.keys.queue('permits', key), entries);
  if (number === undefined) return undefined;
  const { results } = await session.read([{ kind: 'read', key: number }], signal);
  const [recorded] = results[0]?.found ?? [];
  return recorded && Number(recorded.value.toString());
}
