import { pause } from '../async/timer.js';
import type { Contender } from '../contract/contender.js';
import type { LockBackend } from '../contract/lock-backend.js';
import { recordedLosses } from '../service/recorded-losses.js';
import type { LockSurvey } from '../service/survey.js';
import type { Cluster } from './cluster.js';
import type { ClusterOptions } from './cluster.options.js';
import { durationText, jsonText, printable, tableText } from './command-io.js';
import type { CommandIo } from './command-io.js';

/** A command on a connected cluster, with words that are checked. Resolves with the exit code. */
export type ClusterCommand = (
  cluster: Cluster,
  words: readonly string[],
  options: ClusterOptions,
  io: CommandIo,
) => Promise<number>;

/** Lists the keys that are in use. */
export const list: ClusterCommand = async ({ backend, locks }, words, options, io) => {
  const [prefix = ''] = words;
  const survey = await surveyOf(locks, options, prefix);
  if (options.isJson) return surveyed(survey, io, jsonText(survey));
  const rows = survey.keys.map(({ key, kind, service, holders: [first], holding, waiting }) => [
    kind,
    titleOf(key, service),
    first ? ownerText(first) : '-',
    ageText(first),
    String(holding),
    String(waiting),
  ]);
  const queues = survey.queues.map(({ key, service, items }) => [
    'queue',
    titleOf(key, service),
    '-',
    '-',
    '-',
    String(items),
  ]);
  const nothing = `nothing is held or waited for${prefix && ` below "${printable(prefix)}"`}${below(backend, prefix)}\n`;
  const titles = ['KIND', 'KEY', 'HOLDER', 'SINCE', 'HOLD', 'WAIT'];
  const isEmpty = rows.length + queues.length === 0;
  return surveyed(survey, io, isEmpty ? nothing : tableText(titles, [...rows, ...queues]));
};

/** Lists the contenders of a key. */
export const who: ClusterCommand = async ({ backend, locks }, words, { isJson }, io) => {
  const [key = ''] = words;
  const contenders = await locks.contenders(key);
  return said(io, isJson ? jsonText(contenders) : lineText(key, contenders, backend));
};

/** Lists the contenders of a key whenever they have changed, until the user ends it. */
export const watch: ClusterCommand = async ({ backend, locks }, words, { isJson, everyMs }, io) => {
  const [key = ''] = words;
  let before: string | undefined;
  while (!io.signal.aborted) {
    const contenders = await locks.contenders(key);
    const now = JSON.stringify(contenders);
    if (now !== before) io.out(isJson ? jsonLine(contenders) : lineText(key, contenders, backend));
    before = now;
    await pause(everyMs, io.signal).catch(() => {});
  }
  return 0;
};

/** Takes a key away from its holders, after the user has confirmed it. */
export const revoke: ClusterCommand = async ({ backend, locks }, words, options, io) => {
  const [key = ''] = words;
  const { graceMs, isConfirmed, isJson } = options;
  const holders = (await locks.contenders(key)).filter(({ state }) => state === 'held');
  // A holder that comes in from now on is one that nobody has seen: it keeps the key.
  if (holders.length === 0) {
    const text = `nobody holds "${printable(key)}"${below(backend, key)}: nothing was revoked\n`;
    return said(io, isJson ? jsonText({ key, revoked: [] }) : text);
  }
  if (!isJson) io.out(lineText(key, holders, backend));
  if (!isConfirmed) {
    const typed = await io.ask(
      `Its holders are asked to release it, and lose it after ${durationText(graceMs)}. A holder that works on then\n` +
        'overlaps with the next one: only fencing tokens stop it. Type the key to go on: ',
    );
    if (typed === undefined) throw new Error('nobody is there to confirm: say --yes');
    if (typed !== key) return said(io, 'not revoked: that is not the key\n', 1);
  }
  await locks.revoke(key, { graceMs, signal: io.signal });
  const { length } = holders;
  return said(
    io,
    isJson ? jsonText({ key, revoked: holders }) : `revoked: ${length} ${length === 1 ? 'holder' : 'holders'}\n`,
  );
};

/** Lists the elections and their leaders. */
export const leaders: ClusterCommand = async ({ backend, locks }, words, options, io) => {
  const survey = await surveyOf(locks, options, words[0] ?? '');
  const found = survey.keys.filter(({ kind }) => kind === 'election');
  if (options.isJson) return surveyed(survey, io, jsonText(found));
  const rows = found.map(({ key, service, holders: [leader], waiting }) => [
    titleOf(key, service),
    leader ? ownerText(leader) : 'nobody',
    ageText(leader),
    String(waiting),
  ]);
  const nobody = `there is no candidate of any election${below(backend)}\n`;
  const titles = ['ELECTION', 'LEADER', 'SINCE', 'CANDIDATES'];
  return surveyed(survey, io, rows.length === 0 ? nobody : tableText(titles, rows));
};

/** Lists the latest runs of the jobs of a service. */
export const cron: ClusterCommand = async ({ backend, runs }, _words, { service, isJson }, io) => {
  const found = await runs.peek();
  if (isJson) return said(io, jsonText(found));
  const rows = found.map(({ name, key, state, isRunning, tick, runner, durationMs, startedAt }) => [
    name,
    key,
    state,
    tick?.toISOString() ?? '-',
    `${runner.host} ${runner.pid}`,
    durationText(isRunning ? Date.now() - startedAt.getTime() : (durationMs ?? 0)),
  ]);
  const titles = ['JOB', 'KEY', 'STATE', 'TICK', 'RUNNER', 'TOOK'];
  return said(
    io,
    rows.length === 0
      ? `no job of ${printable(service ?? '')} has run yet${below(backend)}\n`
      : tableText(titles, rows),
  );
};

/** Lists the leases that the processes of the cluster have lost lately. */
export const losses: ClusterCommand = async ({ backend }, _words, { isJson }, io) => {
  const found = await recordedLosses(backend);
  if (isJson) return said(io, jsonText(found));
  const rows = found.map(({ at, named, leases, service, host, pid, reason }) => [
    at,
    `${service === undefined ? '' : `${service}, `}${host} ${pid}`,
    reason,
    String(leases),
    named.map(({ key, label }) => (label === undefined ? key : `${key} (${label})`)).join(', '),
  ]);
  const nothing = `no loss of a lease is recorded${below(backend)}\n`;
  return said(
    io,
    rows.length === 0 ? nothing : tableText(['TIME', 'PROCESS', 'REASON', 'LEASES', 'FIRST OF THEM'], rows),
  );
};

/** Lists the queues and the numbers of their items. */
export const queues: ClusterCommand = async ({ backend, locks }, words, options, io) => {
  const survey = await surveyOf(locks, options, words[0] ?? '');
  if (options.isJson) return surveyed(survey, io, jsonText(survey.queues));
  const rows = survey.queues.map(({ key, service, items }) => [titleOf(key, service), String(items)]);
  const empty = `all queues are empty${below(backend)}\n`;
  return surveyed(survey, io, rows.length === 0 ? empty : tableText(['QUEUE', 'ITEMS'], rows));
};

function surveyOf(
  locks: Cluster['locks'],
  { mostKeys, withinMs }: ClusterOptions,
  prefix: string,
): Promise<LockSurvey> {
  return locks.survey({ prefix, mostKeys, withinMs });
}

/** The base path, for what was not found: perhaps it is another one that the application has. Absolute keys have none. */
function below(backend: LockBackend, key = ''): string {
  if (key.startsWith('/')) return '';
  const path = backend.identify('k').slice(0, -'/k'.length);
  return ` (base path ${printable(path) || '/'})`;
}

function said(io: CommandIo, text: string, code = 0): number {
  io.out(text);
  return code;
}

/** Writes what a survey has found, and after it whether there may be more. */
function surveyed({ isTruncated }: LockSurvey, io: CommandIo, text: string): number {
  io.out(text);
  if (isTruncated) io.complain('there may be more: name a prefix, or raise --most and --within\n');
  return 0;
}

function titleOf(key: string, service: string | undefined): string {
  return service === undefined ? key : `${key} (${service})`;
}

function jsonLine(value: unknown): string {
  return `${jsonText(value).replace(/\n\s*/g, '')}\n`;
}

function lineText(key: string, contenders: readonly Contender[], backend: LockBackend): string {
  if (contenders.length === 0) return `"${printable(key)}" is free${below(backend, key)}\n`;
  const rows = contenders.map((one) => [
    one.state === 'held' && one.isKept ? 'kept' : one.state,
    one.permits === undefined ? one.mode : `${one.mode} ${one.permits}`,
    ownerText(one),
    ageText(one),
  ]);
  return tableText(['STATE', 'MODE', 'OWNER', 'SINCE'], rows);
}

function ownerText({ owner: { label, host, pid } }: Contender): string {
  const place = [host, pid === undefined ? undefined : String(pid)].filter((part) => part !== undefined).join(' ');
  if (label === undefined) return place || 'another kind of client';
  return place === '' ? label : `${label} (${place})`;
}

function ageText(contender: Contender | undefined): string {
  const since = contender?.since.getTime() ?? Number.NaN;
  return Number.isNaN(since) ? '-' : durationText(Date.now() - since);
}
