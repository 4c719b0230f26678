import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { channels } from '../../../lib/contract/channels.js';
import type { EventOrigin, ObservedRequest, RequestEvent } from '../../../lib/contract/channels.js';
import type { Lease } from '../../../lib/contract/lease.js';

/** The channels of acquisitions, by the short names that the referee uses. */
const OF_ACQUISITIONS = {
  start: channels.requestStart,
  grant: channels.requestGrant,
  miss: channels.requestMiss,
  end: channels.requestEnd,
  hold: channels.hold,
  suspended: channels.leaseSuspended,
  resumed: channels.leaseResumed,
  revoking: channels.leaseRevoking,
  overdue: channels.leaseOverdue,
  lost: channels.leaseLost,
} as const;

/** A note of one event, or of work that has begun under a lease. */
export interface Note {
  readonly what: keyof typeof OF_ACQUISITIONS | 'work';
  readonly request: ObservedRequest | undefined;
  readonly lease: Lease | undefined;
  /** The reason of a miss, or the state at an end. */
  readonly detail: string | undefined;
}

/** Writes down the events of one application's acquisitions, and what its work did in between. */
export class EventReferee {
  readonly notes: Note[] = [];
  readonly #ends: (() => void)[] = [];
  readonly #requests = new Map<Lease, ObservedRequest>();

  constructor(origin: EventOrigin) {
    for (const [what, { name }] of Object.entries(OF_ACQUISITIONS)) this.#listen(what as Note['what'], name, origin);
  }

  /** To be called by the work of a test as its first step. */
  work(lease: Lease): void {
    this.notes.push({ what: 'work', request: this.#requests.get(lease), lease, detail: undefined });
  }

  stop(): void {
    this.#ends.splice(0).forEach((end) => end());
  }

  /** The notes as short texts, such as `start`, `grant`, `end released`. */
  get texts(): string[] {
    return this.notes.map(({ what, detail }) => (detail === undefined ? what : `${what} ${detail}`));
  }

  #listen(what: Note['what'], channel: string | symbol, origin: EventOrigin): void {
    const listener = (event: unknown) => {
      const told = event as RequestEvent & Partial<{ lease: Lease; reason: string; state: string }>;
      if (told.origin !== origin) return;
      const { request, lease, reason, state } = told;
      if (what === 'grant' && lease) this.#requests.set(lease, request);
      this.notes.push({ what, request, lease, detail: reason ?? state });
    };
    subscribe(channel, listener);
    this.#ends.push(() => unsubscribe(channel, listener));
  }
}

/** Returns what is wrong with the notes of acquisitions that are all over. */
export function faultsOf(notes: readonly Note[]): string[] {
  const byRequest = new Map<ObservedRequest | undefined, Note[]>();
  for (const note of notes) byRequest.set(note.request, [...(byRequest.get(note.request) ?? []), note]);
  const faults: string[] = [];
  for (const [request, own] of byRequest) {
    if (!request) faults.push(...own.map(({ what }) => `${what} without an acquisition`));
    else faults.push(...faultsOfOne(own).map((fault) => `"${request.key}" (${request.kind}): ${fault}`));
  }
  return [...faults, ...overlaps(notes)];
}

function faultsOfOne(notes: readonly Note[]): string[] {
  const at = (what: Note['what']) => notes.flatMap((note, place) => (note.what === what ? [place] : []));
  const [starts, grants, misses, ends] = [at('start'), at('grant'), at('miss'), at('end')];
  const faults: string[] = [];
  if (starts.length !== 1 || starts[0] !== 0) faults.push(`${starts.length} starts, the first at ${starts[0]}`);
  if (grants.length + misses.length !== 1) faults.push(`${grants.length} grants and ${misses.length} misses`);
  if (ends.length !== grants.length) faults.push(`${ends.length} ends of ${grants.length} grants`);
  const last = ends[0] ?? misses[0] ?? Infinity;
  notes.forEach(({ what }, place) => {
    if (place > last) faults.push(`${what} after the end`);
    const isOfLease = what !== 'start' && what !== 'grant' && what !== 'miss';
    if (isOfLease && !(place > (grants[0] ?? Infinity))) faults.push(`${what} before the grant`);
  });
  if (at('lost').length > 1) faults.push('lost twice');
  return faults;
}

/** Whether an exclusive key was granted before the grant ahead of it had ended, or was lost. */
function overlaps(notes: readonly Note[]): string[] {
  const holders = new Map<string, ObservedRequest>();
  const faults: string[] = [];
  for (const { what, request } of notes) {
    // Names of elections, queues and barriers are no keys of locks.
    if (!request || request.mode !== 'exclusive' || !['lock', 'set', 'segment'].includes(request.kind)) continue;
    const { key } = request;
    if (what === 'grant' && holders.has(key)) faults.push(`"${key}" was granted twice at a time`);
    if (what === 'grant') holders.set(key, request);
    if ((what === 'end' || what === 'lost') && holders.get(key) === request) holders.delete(key);
  }
  return faults;
}
