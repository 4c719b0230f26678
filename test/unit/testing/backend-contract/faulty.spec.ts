import { AssertionError } from 'node:assert';
import { describe, expect, it } from 'vitest';
import type { LockBackend } from '../../../../lib/contract/lock-backend.js';
import type { RecordStore } from '../../../../lib/contract/record-store.js';
import { MemoryBackend } from '../../../../lib/memory/memory.backend.js';
import { BACKEND_CHECKS } from '../../../../lib/testing/index.js';
import type { ContractSubject } from '../../../../lib/testing/index.js';
import * as faulty from './faulty-backends.js';
import * as clients from './faulty-clients.js';
import * as options from './faulty-options.js';
import * as records from './faulty-records.js';
import * as surveys from './faulty-surveys.js';
import { MemoryClient } from './memory-service.js';

/** The limit for a planted fault. It must be found soon, and not because of a timeout elsewhere. */
const LIMIT_MS = 100;

/** The limit for a correct backend, which may be slow on a busy machine. */
const SOUND_LIMIT_MS = 20_000;

/** Runs one check by its title. */
async function run(title: string, subject: ContractSubject): Promise<void> {
  const check = BACKEND_CHECKS.find((one) => one.title === title);
  if (!check) throw new Error(`no check is called ${title}`);
  await check.run({ limitMs: LIMIT_MS, ...subject });
}

/** One client, which excludes only itself. */
const alone = (Backend: new () => LockBackend): ContractSubject => ({ open: () => new Backend(), isLocal: true });

/** Clients of one service. */
function together(Client: new (service: MemoryBackend) => LockBackend): ContractSubject {
  const service = new MemoryBackend();
  return { open: () => new Client(service) };
}

/** Returns the complaint of a check. Throws when the check itself failed, which proves no fault. */
async function found(check: string, subject: ContractSubject): Promise<string | undefined> {
  const error = await run(check, subject).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error === undefined) return undefined;
  const isOwn = error instanceof TypeError || error instanceof ReferenceError;
  if (isOwn && !(error instanceof AssertionError)) throw error;
  return error instanceof Error ? error.message : 'no error';
}

const keeping = (Store: new () => RecordStore) =>
  class extends MemoryBackend {
    override readonly records = new Store();
  };

/** The faults, each with the check that must find it. */
const PLANTED: readonly (readonly [fault: string, Backend: new () => LockBackend, check: string])[] = [
  ['TakesAnyKey', faulty.TakesAnyKey, 'refuses what is no key'],
  ['GrantsAll', faulty.GrantsAll, 'grants a key to one at a time'],
  ['GrantsAll', faulty.GrantsAll, 'grants it to one of many requests at once that do not wait'],
  ['GrantsAll', faulty.GrantsAll, 'lets no second holder in while one works'],
  ['GrantsToWaiters', faulty.GrantsToWaiters, 'grants nothing to a waiting request before the key is given back'],
  ['NeverAsksOnce', faulty.NeverAsksOnce, 'keeps no place for a request that does not wait'],
  ['KeepsPlacesWithoutWait', faulty.KeepsPlacesWithoutWait, 'keeps no place for a request that does not wait'],
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
  ['RejectsBeforeItLeaves', faulty.RejectsBeforeItLeaves, 'hands over past a request that was given up'],
  ['IgnoresAborts', faulty.IgnoresAborts, 'hands over past a request that was given up'],
  ['IgnoresAborts', faulty.IgnoresAborts, 'readers go at once when the writer ahead of them gives up'],
  ['LinesUpForTheAborted', faulty.LinesUpForTheAborted, 'does not line up for a signal that has aborted before'],
  ['TakesBackLate', faulty.TakesBackLate, 'takes no lease back for a signal that aborts after the grant'],
  ['LeavesListeners', faulty.LeavesListeners, 'leaves no listener on the signals'],
  ['SameTokenAlways', faulty.SameTokenAlways, 'has tokens that grow with every grant of a key, to any client'],
  ['TokensFall', faulty.TokensFall, 'has a larger token after a wait'],
  ['NeverGivesBack', faulty.NeverGivesBack, 'is over when it has been given back, and may be so twice'],
  ['NeverGivesBack', faulty.NeverGivesBack, 'is given back at the end of its block'],
  ['ReleaseHangs', faulty.ReleaseHangs, 'is over when it has been given back, and may be so twice'],
  ['NamesItsOwnKey', faulty.NamesItsOwnKey, 'grants a free key as it was asked for'],
  [
    'LeavesTheReaderBehind',
    faulty.LeavesTheReaderBehind,
    'a writer that is released while it becomes a reader leaves nobody behind',
  ],
  ['ReadersAreAlone', faulty.ReadersAreAlone, 'readers hold together, and a writer waits for all of them'],
  ['WritersReadAlong', faulty.WritersReadAlong, 'readers hold together, and a writer waits for all of them'],
  ['WritersReadAlong', faulty.WritersReadAlong, 'an exclusive holder keeps readers and writers out'],
  ['ReadersOvertake', faulty.ReadersOvertake, 'readers do not overtake a writer that waits, and then go together'],
  ['NoLineIsNoLock', faulty.NoLineIsNoLock, 'grants without a line to any request while the key is free'],
  ['LastComeFirstServed', faulty.LastComeFirstServed, 'serves in the order of arrival'],
  ['OneLockForAll', faulty.OneLockForAll, 'does not keep other keys waiting'],
  [
    'OneLockForAll',
    faulty.OneLockForAll,
    'has one identity for a key, the same for all clients, and another for another key',
  ],
  ['PermitsWithoutLine', faulty.PermitsWithoutLine, 'have as many holders at a time as there are permits'],
  ['PermitsWithoutLine', faulty.PermitsWithoutLine, 'do not let requests for few overtake one for many'],
  ['PermitsAreLocks', faulty.PermitsAreLocks, 'do not exclude a lock on the same key'],
  ['PermitsAreLocks', faulty.PermitsAreLocks, 'let waiting requests in when there are more permits'],
  ['ShowsNobody', faulty.ShowsNobody, 'shows holders and waiters, in order'],
  ['ShowsWaitersAsHolders', faulty.ShowsWaitersAsHolders, 'shows as many holders as it is asked for, and no waiters'],
  ['ShowsAllHolders', faulty.ShowsAllHolders, 'shows as many holders as it is asked for, and no waiters'],
  ['ShowsTheLastFirst', faulty.ShowsTheLastFirst, 'shows holders and waiters, in order'],
  ['NeverConnects', faulty.NeverConnects, 'is connected when connect() has resolved'],
  ['NeverCloses', faulty.NeverCloses, 'ends every lease'],
  ['NeverCloses', faulty.NeverCloses, 'rejects waiting requests, and takes no more'],
  ['ClosesOnce', faulty.ClosesOnce, 'may be done twice, and never rejects'],
  ['IgnoresVersions', keeping(records.IgnoresVersions), 'lets one of many have it'],
  ['IgnoresVersions', keeping(records.IgnoresVersions), 'refuse what is not so, and name the record'],
  ['WritesOneByOne', keeping(records.WritesOneByOne), 'makes all changes depend on every condition'],
  ['WritesOneByOne', keeping(records.WritesOneByOne), 'refuse what cannot be before anything is written'],
  ['ReadsOneByOne', keeping(records.ReadsOneByOne), 'finds several as they were at one moment'],
  ['FindsWhatIsNotThere', keeping(records.FindsWhatIsNotThere), 'finds nothing where nothing was written'],
  ['RefusesNothing', keeping(records.RefusesNothing), 'applies a write of nothing'],
  ['RefusesConditions', keeping(records.RefusesConditions), 'apply what is so: a value'],
  ['RefusesConditions', keeping(records.RefusesConditions), 'apply what is so: a removal'],
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
  ['SetsInTheirOwnOrder', options.SetsInTheirOwnOrder, 'have a lease for each key, in the order of the requests'],
  [
    'SetsOneAfterAnother',
    options.SetsOneAfterAnother,
    'are granted whole or not at all to a request that does not wait',
  ],
  [
    'SetsOneAfterAnother',
    options.SetsOneAfterAnother,
    'do not wait for each other, in whatever order their keys are named',
  ],
  ['SetsThatStay', options.SetsThatStay, 'leave every line before a wait that was aborted ends'],
  ['WaitsForAHolder', options.WaitsForAHolder, 'is done at once where there is no holder'],
  ['RevokesUnasked', options.RevokesUnasked, 'asks the holder to give way, and is done when it has'],
  ['AsksOneHolder', options.AsksOneHolder, 'asks all holders of permits whose number is recorded under another key'],
  ['RevokesAtOnce', options.RevokesAtOnce, 'asks all holders of permits whose number is recorded under another key'],
  ['AsksOnly', options.AsksOnly, 'takes the key from a holder that does not give it back in time'],
  ['RevokesAtOnce', options.RevokesAtOnce, 'takes nothing by force when its signal aborts'],
  ['ShowsHoldersAsWaiting', surveys.ShowsHoldersAsWaiting, 'show each key that is in use as its own line shows it'],
  ['TakesSemaphoresForLocks', surveys.TakesSemaphoresForLocks, 'show semaphores beside locks'],
  ['ForgetsQueues', surveys.ForgetsQueues, 'show elections and queues'],
  ['HasNoBound', surveys.HasNoBound, 'end at the number of keys, and say so'],
  ['SaysNothingOfItsBound', surveys.SaysNothingOfItsBound, 'end at the number of keys, and say so'],
  ['ListsAll', surveys.ListsAll, 'count all contenders of a key, and list the first'],
  ['CountsTheListed', surveys.CountsTheListed, 'count all contenders of a key, and list the first'],
  ['ForgetsThePrefix', surveys.ForgetsThePrefix, 'show only keys that begin with the prefix'],
  ['SurveysWithLocks', surveys.SurveysWithLocks, 'take no lock'],
  ['SurveysOnAndOn', surveys.SurveysOnAndOn, 'end when their signal aborts'],
  ['ElectsAll', options.ElectsAll, 'have one leader at a time, and then the next candidate'],
  ['SeesNobody', options.SeesNobody, 'name the leader, and what it proclaims'],
  ['ProclaimsNothing', options.ProclaimsNothing, 'name the leader, and what it proclaims'],
  ['CampaignsOn', options.CampaignsOn, 'let go of a candidate that gives up, with its own reason'],
  ['LeadsByLock', options.LeadsByLock, 'are none of the locks of that name'],
  ['TakesForGood', options.TakesForGood(), 'an item is one taker’s until it is acknowledged, or put back in its place'],
  ['WakesNoTaker', options.WakesNoTaker(), 'a waiting call gets the first item that comes'],
  ['NeverFull', options.NeverFull(), 'a queue that is full takes nothing'],
  ['AlwaysDown', options.AlwaysDown(), 'a barrier holds up all calls while it is up'],
  ['EntersAlone', options.EntersAlone(), 'a double barrier is entered and left together'],
  ['WritesWhatever', options.WritesWhatever(), 'a value is written only over what its writer knows'],
  ['TellsNothing', options.TellsNothing(), 'a watcher of a value is told of the next'],
];

/** The faults that need two clients to show. */
const PLANTED_CLIENTS: readonly (readonly [
  fault: string,
  Client: new (service: MemoryBackend) => LockBackend,
  check: string,
])[] = [
  ['LocksOfEachClient', clients.LocksOfEachClient, 'grants a key to one at a time'],
  ['RecordsOfEachClient', clients.RecordsOfEachClient, 'shows every client what another one wrote, and removed'],
  ['RecordsOfEachClient', clients.RecordsOfEachClient, 'lets one of many have it'],
  ['PermitCountsOfEachClient', clients.PermitCountsOfEachClient, 'let waiting requests in when there are more permits'],
  ['CoordinationOfEachClient', clients.CoordinationOfEachClient, 'a barrier holds up all calls while it is up'],
  ['ElectionsOfEachClient', clients.ElectionsOfEachClient, 'have one leader at a time, and then the next candidate'],
  [
    'IdentityOfEachClient',
    clients.IdentityOfEachClient,
    'has one identity for a key, the same for all clients, and another for another key',
  ],
  ['ClosesOnlyItself', clients.ClosesOnlyItself, 'leaves nothing behind that others would wait for'],
  ['CallsAllItsOwn', clients.CallsAllItsOwn, 'shows holders and waiters, in order'],
  ['TokensOfEachClient', clients.TokensOfEachClient, 'has tokens that grow with every grant of a key, to any client'],
  ['TellsNoHolder', clients.TellsNoHolder, 'grants a key that its holder only keeps to a request that does not wait'],
  ['TakesKeptKeys', clients.TakesKeptKeys, 'refuses a key that may be kept and is in use, and leaves no place'],
];

describe('the contract of a backend detects', () => {
  it.each(PLANTED)('%s', async (_fault, Backend, check) => {
    expect(await found(check, alone(Backend))).toMatch(/\w/);
  });

  it.each(PLANTED_CLIENTS)('among clients: %s', async (_fault, Client, check) => {
    expect(await found(check, together(Client))).toMatch(/\w/);
  });

  it('no fault in a correct backend', async () => {
    const patiently = (subject: ContractSubject) => ({ ...subject, limitMs: SOUND_LIMIT_MS });
    for (const { title } of BACKEND_CHECKS) {
      await expect(run(title, patiently(alone(MemoryBackend))), title).resolves.toBeUndefined();
      await expect(run(title, patiently(together(MemoryClient))), title).resolves.toBeUndefined();
    }
  });

  it('at least one fault by every check', () => {
    const proven = new Set([...PLANTED, ...PLANTED_CLIENTS].map(([, , check]) => check));
    expect(BACKEND_CHECKS.map(({ title }) => title).filter((title) => !proven.has(title))).toEqual([]);
  });

  it('a broken promise, and reports it although the backend cannot be closed either', async () => {
    class Stuck extends faulty.GrantsAll {
      override close(): Promise<void> {
        return new Promise(() => {});
      }
    }
    await expect(run('grants a key to one at a time', alone(Stuck))).rejects.toThrow(/another client got a key/);
  });
});
