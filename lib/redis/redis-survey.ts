/** The survey of a server: the names of wait queues are found by a scan, and their first entries read in batches. */
import { limited } from '../async/timer.js';
import type { Survey, SurveyedKey, SurveyedQueue, SurveyQuestion } from '../contract/survey.js';
import { SIZE } from './scripts/coordination-scripts.js';
import { SURVEY } from './scripts/lock-scripts.js';
import { described } from './redis-locks.js';
import { foundNames, globOf, QUEUES_AT_ONCE } from './session/found-names.js';
import type { FoundName } from './session/found-names.js';
import { inSession } from './session/in-session.js';
import type { QueueKeys } from './session/redis-keys.js';
import type { RedisSession } from './session/redis-session.js';
import type { RedisSessions } from './session/redis-sessions.js';
import type { RedisShards } from './session/redis-shards.js';

const KINDS = { lock: 'lock', permits: 'semaphore', election: 'election' } as const;
type Kind = keyof typeof KINDS;

/** The findings of a survey so far. */
interface Findings {
  readonly keys: SurveyedKey[];
  readonly queues: SurveyedQueue[];
  isTruncated: boolean;
}

/** A name that a survey has an entry for. */
interface Named extends FoundName {
  /** The kind of its wait queue; `undefined` for a queue of items. */
  readonly kind: Kind | undefined;
}

/** @throws `question.signal.reason`, LockUnavailableError, LockConfigurationError */
export async function surveyOf(shards: RedisShards, question: SurveyQuestion): Promise<Survey> {
  const surveys = await Promise.all(shards.all.map((sessions) => surveyOfShard(sessions, question)));
  const [keys, queues] = [surveys.flatMap((one) => one.keys), surveys.flatMap((one) => one.queues)];
  const shown = keys.slice(0, question.mostKeys);
  const isTruncated = surveys.some((one) => one.isTruncated) || keys.length + queues.length > question.mostKeys;
  return { keys: shown, queues: queues.slice(0, question.mostKeys - shown.length), isTruncated };
}

async function surveyOfShard(sessions: RedisSessions, question: SurveyQuestion): Promise<Survey> {
  const call = { key: question.prefix || 'survey', wait: false, signal: question.signal, workMs: question.withinMs };
  return inSession(sessions, call, async (session, signal) => {
    const findings: Findings = { keys: [], queues: [], isTruncated: false };
    const isComplete = await limited(question.withinMs, signal, async (limit) => {
      await look(session, question, findings, limit);
      return true;
    });
    return { ...findings, isTruncated: findings.isTruncated || isComplete !== true };
  });
}

async function look(
  session: RedisSession,
  { prefix = '', mostKeys, mostContenders }: SurveyQuestion,
  findings: Findings,
  signal: AbortSignal,
): Promise<void> {
  const seen = new Set<string>();
  for await (const names of foundNames(session, `[hwi]*:*${globOf(prefix)}*`, signal)) {
    const found = names.filter(isSurveyed).filter(({ kind, key }) => {
      const id = `${kind} ${key}`;
      const isNew = key.startsWith(prefix) && !seen.has(id);
      if (isNew) seen.add(id);
      return isNew;
    });
    await read(session, found, { mostKeys, mostContenders }, findings, signal);
    if (findings.isTruncated) return;
  }
}

async function read(
  session: RedisSession,
  found: readonly Named[],
  { mostKeys, mostContenders }: Pick<SurveyQuestion, 'mostKeys' | 'mostContenders'>,
  findings: Findings,
  signal: AbortSignal,
): Promise<void> {
  for (let first = 0; first < found.length; first += QUEUES_AT_ONCE) {
    const batch = found.slice(first, first + QUEUES_AT_ONCE);
    const [keys, queues] = await Promise.all([
      readKeys(session, batch, mostContenders, signal),
      readQueues(session, batch, signal),
    ]);
    const left = () => mostKeys - findings.keys.length - findings.queues.length;
    if (keys.length + queues.length > left()) findings.isTruncated = true;
    findings.keys.push(...keys.slice(0, left()));
    findings.queues.push(...queues.slice(0, left()));
    if (findings.isTruncated) return;
  }
}

async function readKeys(
  session: RedisSession,
  batch: readonly Named[],
  most: number,
  signal: AbortSignal,
): Promise<SurveyedKey[]> {
  const named = batch.flatMap(({ key, kind }) => (kind === undefined ? [] : [{ key, kind }]));
  if (named.length === 0) return [];
  const keys = named.flatMap(({ key, kind }): QueueKeys => session.keys.queue(kind, key));
  const [, ...answers] = await session.run(SURVEY, keys, [most], { signal });
  return named.flatMap(({ key, kind }, place) => {
    const [holding, waiting, holders, waiters] = answers[place] as unknown as [number, number, string[], string[]];
    if (holding + waiting === 0) return [];
    const held = holders.flatMap((entry, at) => (at % 2 === 0 ? [described(entry, session.id, holders[at + 1])] : []));
    const others = waiters.map((entry) => described(entry, session.id));
    return [{ key, kind: KINDS[kind], holders: held, holding, waiters: others, waiting }];
  });
}

async function readQueues(session: RedisSession, batch: readonly Named[], signal: AbortSignal) {
  const keys = batch.flatMap(({ key, kind }) => (kind === undefined ? [key] : []));
  const sizes = keys.map(async (key): Promise<SurveyedQueue> => {
    const [, items] = await session.run(SIZE, [session.keys.of('items', key)], [], { signal });
    return { key, items: Number(items) };
  });
  return (await Promise.all(sizes)).filter(({ items }) => items > 0);
}

/** Whether a survey has an entry for it: the turns to put and to take items belong to their queue. */
function isSurveyed(name: FoundName): name is Named {
  return name.kind === undefined || name.kind in KINDS;
}
