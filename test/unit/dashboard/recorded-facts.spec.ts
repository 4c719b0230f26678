import { describe, expect, it } from 'vitest';
import type { JobRun } from '../../../lib/contract/job-event.js';
import { KeyNames } from '../../../lib/dashboard/key-names.js';
import { shownLosses, shownRuns } from '../../../lib/dashboard/recorded-facts.js';
import type { RecordedLoss } from '../../../lib/service/recorded-losses.js';

const RUN = {
  key: 'report',
  name: 'report',
  state: 'failed',
  runner: { host: 'db-1', pid: 7 },
  startedAt: new Date(1_000),
  error: 'db-1 does not answer for stock/7',
} as JobRun;

const LOSS = {
  id: '1',
  at: '2026-02-03',
  host: 'db-1',
  pid: 7,
  reason: 'db-1 is silent',
  leases: 1,
  named: [],
} as unknown;

describe('messages of runs and losses', () => {
  it.each([
    ['are shown', {}, [RUN.error, 'db-1 is silent']],
    ['are hidden where hosts are: they may name servers', { showHosts: false }, [null, null]],
    ['are hidden where keys are: they may contain keys', { redactKey: () => '…' }, [null, null]],
  ])('%s', (_what, options: { readonly showHosts?: boolean; readonly redactKey?: () => string }, shown) => {
    const names = new KeyNames(options);
    const { showHosts = true } = options;
    const [run] = shownRuns([RUN], names, showHosts);
    const [loss] = shownLosses([LOSS as RecordedLoss], names, showHosts);
    expect([run?.error, loss?.reason]).toEqual(shown);
  });
});
