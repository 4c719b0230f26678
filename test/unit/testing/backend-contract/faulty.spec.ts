import { AssertionError } from 'node:assert';
import { describe, expect, it } from 'vitest';
import type { LockBackend } from '../../../../lib/contract/lock-backend.js';
import type { RecordStore } from '../../../../lib/contract/record-store.js';
import { MemoryBackend } from '../../../../lib/memory/memory.backend.js';
import { BACKEND_CHECKS } from '../../../../lib/testing/index.js';
import * as faulty from './faulty-backends.js';
import * as records from './faulty-records.js';

const LIMIT_MS = 100;

/** Runs one check by its title. */
async function run(title: string, open: () => LockBackend): Promise<void> {
  const check = BACKEND_CHECKS.find((one) => one.title === title);
  if (!check) throw new Error(`no check is called ${title}`);
  await check.run({ open, isLocal: true, limitMs: LIMIT_MS });
}

const keeping = (Store: new () => RecordStore) =>
  class extends MemoryBackend {
    override readonly records = new Store();
  };

/** What is wrong, with the check that must find it. */
const PLANTED: readonly (readonly [fault: string, Backend: new () => LockBackend, check: string])[] = [
  ['GrantsAll', faulty.GrantsAll, 'grants a key to one at a time'],
  ['GrantsAll', faulty.GrantsAll, 'grants it to one of many who ask at once and do not wait'],
  ['GrantsAll', faulty.GrantsAll, 'lets nobody in while somebody works'],
  ['NeverAsksOnce', faulty.NeverAsksOnce, 'keeps no place for who does not wait'],
  ['KeepsThePlaceOf…', faulty.KeepsThePlaceOfWhoDoesNotWait, 'keeps no place for who does not wait'],
  [
    'RejectsWithItsOwnReason',
    faulty.RejectsWithItsOwnReason,
    'ends an aborted wait with the caller’s own reason, when it has left the line',
  ],
  [
    'RejectsBeforeItLeaves',
    faulty.RejectsBeforeItLeaves,
    'ends an aborted wait with the caller’s own reason, when it has left the line',
  ],
  ['RejectsBeforeItLeaves', faulty.RejectsBeforeItLeaves, 'hands over past who has given up'],
  ['IgnoresAborts', faulty.IgnoresAborts, 'hands over past who has given up'],
  ['IgnoresAborts', faulty.IgnoresAborts, 'readers go at once when the writer ahead of them gives up'],
  ['LinesUpForTheAborted', faulty.LinesUpForTheAborted, 'does not line up for a signal that has aborted before'],
  ['TakesBackLate', faulty.TakesBackLate, 'takes no lease back for a signal that aborts after the grant'],
  ['LeavesListeners', faulty.LeavesListeners, 'leaves no listener on the signals'],
  ['SameTokenAlways', faulty.SameTokenAlways, 'has tokens that grow with every grant of a key, whoever gets it'],
  ['TokensFall', faulty.TokensFall, 'has a larger token for who waited'],
  ['NeverGivesBack', faulty.NeverGivesBack, 'is over when it has been given back, and may be so twice'],
  ['NeverGivesBack', faulty.NeverGivesBack, 'is given back at the end of its block'],
  ['ReleaseHangs', faulty.ReleaseHangs, 'is over when it has been given back, and may be so twice'],
  ['NamesItsOwnKey', faulty.NamesItsOwnKey, 'grants a free key as it was asked for'],
  ['ReadersAreAlone', faulty.ReadersAreAlone, 'readers hold together, and a writer waits for all of them'],
  ['WritersReadAlong', faulty.WritersReadAlong, 'readers hold together, and a writer waits for all of them'],
  ['WritersReadAlong', faulty.WritersReadAlong, 'who holds alone keeps readers and writers out'],
  ['ReadersOvertake', faulty.ReadersOvertake, 'readers do not overtake a writer that waits, and then go together'],
  ['NoLineIsNoLock', faulty.NoLineIsNoLock, 'grants without a line to whoever comes while the key is free'],
  ['LastComeFirstServed', faulty.LastComeFirstServed, 'serves first who came first'],
  ['OneLockForAll', faulty.OneLockForAll, 'does not keep other keys waiting'],
  [
    'OneLockForAll',
    faulty.OneLockForAll,
    'has one identity for a key, the same for all clients, and another for another key',
  ],
  ['PermitsWithoutLine', faulty.PermitsWithoutLine, 'have as many holders at a time as there are permits'],
  ['PermitsWithoutLine', faulty.PermitsWithoutLine, 'do not let those who want few overtake one who wants many'],
  ['PermitsAreLocks', faulty.PermitsAreLocks, 'exclude nobody who locks the same key'],
  ['PermitsAreLocks', faulty.PermitsAreLocks, 'let in those who wait when there are more permits'],
  ['ShowsNobody', faulty.ShowsNobody, 'shows who holds and who waits, in order'],
  ['ShowsTheLastFirst', faulty.ShowsTheLastFirst, 'shows who holds and who waits, in order'],
  ['NeverConnects', faulty.NeverConnects, 'is connected when connect() has resolved'],
  ['NeverCloses', faulty.NeverCloses, 'ends every lease'],
  ['NeverCloses', faulty.NeverCloses, 'rejects who waits, and takes nobody any more'],
  ['ClosesOnce', faulty.ClosesOnce, 'may be done twice, and never rejects'],
  ['IgnoresVersions', keeping(records.IgnoresVersions), 'lets one of many have it'],
  ['IgnoresVersions', keeping(records.IgnoresVersions), 'refuse what is not so, and name the record'],
  ['WritesOneByOne', keeping(records.WritesOneByOne), 'makes all changes depend on every condition'],
  ['WritesOneByOne', keeping(records.WritesOneByOne), 'refuse what can not be before anything is written'],
  ['ReadsOneByOne', keeping(records.ReadsOneByOne), 'finds several as they were at one moment'],
  ['ListsEncoded', keeping(records.ListsEncoded), 'tells names apart that look alike, and lists them as they were'],
  ['CutsLongValues', keeping(records.CutsLongValues), 'finds what was written'],
  ['CountsFromOne', keeping(records.CountsFromOne), 'makes a record, writes over it and counts'],
  [
    'RemovesAllBelow',
    keeping(records.RemovesAllBelow),
    'removes a record, also one that has others below and one that is not there',
  ],
  ['NamesAnotherConflict', keeping(records.NamesAnotherConflict), 'refuse what is not so, and name the record'],
  ['WritesWhatIsUnchanged', keeping(records.WritesWhatIsUnchanged), 'apply what is so: nothing but the condition'],
  ['TakesBackTheClock', keeping(records.TakesBackTheClock), 'has a time that does not run backwards'],
  ['CanNotWriteTwice', keeping(records.CanNotWriteTwice), 'makes a removed record anew'],
  [
    'TakesWhatLeadsToARecordForOne',
    keeping(records.TakesWhatLeadsToARecordForOne),
    'does not take what leads to a record for one',
  ],
];

describe('the contract of a backend finds out', () => {
  it.each(PLANTED)('%s', async (_fault, Backend, check) => {
    const found = await run(check, () => new Backend()).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(found, `"${check}" has found nothing`).toBeInstanceOf(Error);
    // What finds a fault says what is wrong, and not that the check itself could not go on.
    if (!(found instanceof AssertionError)) expect(String(found)).not.toMatch(/TypeError|ReferenceError/);
  });

  it('nothing in a sound one, within the same time', async () => {
    for (const title of new Set(PLANTED.map(([, , check]) => check))) {
      await expect(run(title, () => new MemoryBackend())).resolves.toBeUndefined();
    }
  });
});
