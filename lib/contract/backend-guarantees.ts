/** The promises of a backend that differ from those of others. `docs/backends.md` has them side by side. */
export interface BackendGuarantees {
  /** The authority that grants a key to one contender. */
  readonly decidedBy: 'a majority of servers' | 'one server' | 'this process';
  /**
   * The clocks that exclusion rests on. Of clients only their rates count. The wall clock of a server must not jump
   * forward.
   */
  readonly clocks: 'none' | 'those of clients' | 'those of clients and of the server';
  /** The consequence of a server's failure, when it restarts or another one takes its place. */
  readonly failOver:
    'goes on' | 'no free key for one session timeout' | 'a held key may be granted again' | 'ends with the process';
  /** The clock that `writtenAt` of a record is taken from. */
  readonly writtenAt: 'server' | 'writer';
  /** Whether an applied write of a record, a queue or a shared value survives the failure of a server. */
  readonly records: 'durable' | 'may be lost' | 'end with the process';
  /** The keys that one set (`multi` with `atomic`) or one write of records may have. */
  readonly sets: 'any keys' | 'keys of one shard';
  /** Settings for an operator, with which fewer writes may be lost. Empty while none is known; it may change. */
  readonly advice: readonly string[];
}

/** Returns the guarantees as one line of a log. @param name the name of the backend */
export function guaranteesText(name: string, guarantees: BackendGuarantees): string {
  const { decidedBy, clocks, failOver, writtenAt, records, sets } = guarantees;
  return (
    `guarantees of ${name}: decided by ${decidedBy}; clocks: ${clocks}; fail-over: ${failOver}; ` +
    `writtenAt: ${writtenAt}; records and queues: ${records}; sets: ${sets}`
  );
}
