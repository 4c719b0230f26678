import { FencedRegister } from '../../robustness/model/fenced-register.js';
import { readEntries } from '../../robustness/model/read-journal.js';
import type { JournalEntry } from '../../robustness/model/journal-entry.js';
import type { RegisterWrite, WriteAnswer } from '../../robustness/model/history.js';
import type { Entry, Recorded } from './entry.js';
import type { HostFacts, MadeCall, Run, SimulationHistory } from './history.js';

/** Combines the records of all processes, in their order, with the facts of the host. */
export function readHistory(recorded: readonly Recorded[], facts: HostFacts): SimulationHistory {
  const own = journalsOf(recorded).map(([process, entries]) => readEntries(process, entries));
  const { writes, answers } = storageOf(recorded);
  return {
    ...facts,
    holds: own.flatMap(({ holds }) => holds),
    attempts: own.flatMap(({ attempts }) => attempts),
    finals: own.flatMap(({ finals }) => finals),
    warnings: [...(facts.warnings ?? []), ...own.flatMap(({ warnings }) => warnings)],
    writes,
    answers,
    calls: callsOf(recorded),
    runs: runsOf(recorded),
    overAtOnce: recorded.flatMap(({ process, entry }) =>
      entry.what === 'over at once' ? [{ process, at: entry.at, key: entry.key }] : [],
    ),
    mishaps: recorded.flatMap(({ entry }) => (entry.what === 'fault of the traffic' ? [entry.text] : [])),
  };
}

/** The entries of each process that the robustness suite has as well. */
function journalsOf(recorded: readonly Recorded[]): [process: string, entries: JournalEntry[]][] {
  const journals = new Map<string, JournalEntry[]>();
  for (const { process, entry } of recorded) {
    const journal = journals.get(process) ?? [];
    journals.set(process, journal);
    if (isJournalEntry(entry)) journal.push(entry);
  }
  return [...journals];
}

const OWN: readonly Entry['what'][] = ['call', 'return', 'write', 'run', 'ran', 'over at once', 'fault of the traffic'];

function isJournalEntry(entry: Entry): entry is JournalEntry {
  return !OWN.includes(entry.what);
}

/** The writes and the storage's answers, by the order in which the writes arrive. */
function storageOf(recorded: readonly Recorded[]): { writes: RegisterWrite[]; answers: WriteAnswer[] } {
  const register = new FencedRegister();
  const writes: RegisterWrite[] = [];
  const answers: WriteAnswer[] = [];
  for (const { entry } of recorded) {
    if (entry.what !== 'write') continue;
    const { hold, key, mode, at } = entry;
    const token = BigInt(entry.token);
    const accepted = register.write(key, mode, token);
    writes.push({ hold, key, mode, token, accepted });
    answers.push({ hold, answeredAt: at, accepted });
  }
  return { writes, answers };
}

function callsOf(recorded: readonly Recorded[]): MadeCall[] {
  const calls = new Map<string, MadeCall>();
  recorded.forEach(({ process, entry }, place) => {
    if (entry.what === 'call') {
      const { id, call, at, waitMs } = entry;
      calls.set(id, { id, process, call, waitMs, calledAt: at, from: place, until: Infinity });
    } else if (entry.what === 'return') {
      const call = calls.get(entry.id);
      // A call that had returned, and then failed with an error that no promise mentions, ended when it returned.
      const [returnedAt, until] = call?.answer ? [call.returnedAt, call.until] : [entry.at, place];
      if (call) calls.set(entry.id, { ...call, returnedAt, until, answer: entry.answer });
    }
  });
  return [...calls.values()];
}

function runsOf(recorded: readonly Recorded[]): Run[] {
  const runs = new Map<string, Run>();
  for (const { process, entry } of recorded) {
    if (entry.what === 'run') {
      const { id, at, job, tick, attempt, token } = entry;
      runs.set(id, { id, process, job, tick, attempt, token: BigInt(token), from: at });
    } else if (entry.what === 'ran') {
      const run = runs.get(entry.id);
      if (run) runs.set(entry.id, { ...run, until: entry.at });
    }
  }
  return [...runs.values()];
}
