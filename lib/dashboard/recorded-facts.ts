import type { RecordStore } from '../contract/record-store.js';
import type { JobRun } from '../contract/job-event.js';
import { idOf, StockNames } from '../stock/stock-names.js';
import type { RecordedLoss } from '../service/recorded-losses.js';
import type { ShownLoss, ShownRun, ShownStock } from './answers.js';
import type { KeyNames } from './key-names.js';
import { shownOrNull, shownText } from './shown-text.js';

const MOST_STOCKS = 50;
const MOST_SEGMENTS = 256;
const MOST_RUNS = 200;

/** Returns the latest runs as the page shows them, the most recent first. */
export function shownRuns(runs: readonly JobRun[], names: KeyNames, showHosts: boolean): readonly ShownRun[] {
  const recent = runs.toSorted((one, other) => other.startedAt.getTime() - one.startedAt.getTime());
  return recent.slice(0, MOST_RUNS).map((run) => ({
    id: names.idOf(run.key),
    name: shownText(run.name),
    tick: run.tick?.getTime() ?? null,
    state: run.state,
    owner: { label: null, host: showHosts ? shownOrNull(run.runner.host) : null, pid: run.runner.pid },
    attempt: run.attempt,
    startedAt: run.startedAt.getTime(),
    durationMs: run.durationMs ?? null,
    // Messages of errors may contain keys, and name servers.
    error: names.areMessagesHidden ? null : shownOrNull(run.error),
  }));
}

/** Returns recorded losses as the page shows them. */
export function shownLosses(losses: readonly RecordedLoss[], names: KeyNames, showHosts: boolean): ShownLoss[] {
  return losses.map(({ id, at, service, host, pid, reason, leases, named }) => ({
    id: shownText(id),
    at: Date.parse(at),
    service: shownOrNull(service),
    owner: { label: shownOrNull(named[0]?.label), host: showHosts ? shownOrNull(host) : null, pid },
    keys: named.map(({ key }) => names.shown(key)),
    leases,
    // Reasons may contain keys, and name servers.
    reason: names.areMessagesHidden ? null : shownText(reason),
  }));
}

/**
 * Reads the stocks that are kept beside the locks, with the units of each segment. A store of the application's own is
 * not asked.
 * @throws LockUnavailableError
 */
export async function readStocks(records: RecordStore, keyNames: KeyNames): Promise<readonly ShownStock[]> {
  const keys = (await records.list('stock')).map(idOf).toSorted().slice(0, MOST_STOCKS);
  const stocks = keys.map((key) => ({ key, names: new StockNames(key) }));
  const heads = await records.readAll(stocks.map(({ names }) => names.head));
  const read = stocks.map(async ({ key, names }, at) => {
    const count = segmentsOf(heads[at]?.value);
    const units = await records.readAll(Array.from({ length: count }, (_, segment) => names.segment(segment)));
    return { key: keyNames.shown(key), segments: units.map((record) => Number(record?.value ?? 0) || 0) };
  });
  return (await Promise.all(read)).filter(({ segments }) => segments.length > 0);
}

/** Other clients may have written the record. */
function segmentsOf(value: string | undefined): number {
  try {
    const { segments } = JSON.parse(value ?? '{}') as { segments?: unknown };
    return typeof segments === 'number' && segments > 0 ? Math.min(MOST_SEGMENTS, Math.floor(segments)) : 0;
  } catch {
    return 0;
  }
}
