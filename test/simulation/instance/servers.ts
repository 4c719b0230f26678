/** The program of the simulated servers' process: the embedded ensemble, and what judges and histories need from it. */
import { Database } from '../../../lib/testing/embedded/database/database.js';
import { Replica } from '../../../lib/testing/embedded/database/replica.js';
import type { Transaction } from '../../../lib/testing/embedded/database/transaction.js';
import type { MadeChange } from '../../../lib/testing/embedded/tree/change.js';
import { Watches } from '../../../lib/testing/embedded/watches/watches.js';
import { EmbeddedEnsemble } from '../../../lib/testing/embedded/embedded-ensemble.js';
import type { EmbeddedEnsembleOptions } from '../../../lib/testing/embedded/embedded-ensemble.options.js';

export type { EmbeddedEnsemble, EmbeddedEnsembleOptions, Transaction };

export interface Servers {
  readonly ensemble: EmbeddedEnsemble;
  /** Deletes a znode, as a client with all rights would. */
  deleteZnode(path: string): void;
  /** Ends all servers. They come back empty. */
  loseData(): void;
}

/** Notifications about the servers. */
export interface Observer {
  /** A transaction was committed. Called once for each, in order. */
  committed(transaction: Transaction): void;
  /** A server has applied the deletion of a znode that connections of these sessions watch there. */
  told(path: string, sessions: readonly bigint[]): void;
}

export async function startServers(
  count: number,
  options: EmbeddedEnsembleOptions,
  observer: Observer,
): Promise<Servers> {
  const known = observe(observer);
  const ensemble = await EmbeddedEnsemble.start(count, options);
  return {
    ensemble,
    loseData: () => {
      void ensemble.loseData().then(() => (known.last = 0n));
    },
    deleteZnode: (path) => known.database?.transact((draft) => draft.apply({ type: 'delete', path })),
  };
}

/**
 * This instance of the code belongs to these servers alone, so the prototypes that everything passes through are
 * patched.
 */
function observe({ committed, told }: Observer): { database?: Database; last: bigint } {
  const known: { database?: Database; last: bigint } = { last: 0n };
  const { serve } = Database.prototype;
  Database.prototype.serve = function (this: Database, replica: Replica) {
    known.database = this;
    serve.call(this, replica);
  };
  const { receive } = Replica.prototype;
  Replica.prototype.receive = function (this: Replica, transaction: Transaction) {
    // Servers that are behind receive earlier transactions again.
    if (transaction.moment.zxid > known.last) {
      known.last = transaction.moment.zxid;
      committed(transaction);
    }
    receive.call(this, transaction);
  };
  const { fire } = Watches.prototype;
  Watches.prototype.fire = function (this: Watches, made: MadeChange) {
    const { type, path } = made.change;
    // The watchers are connections of the embedded server. Each belongs to a session.
    const watchers = this.data.watchersOf(path) as Iterable<Partial<{ session: { id: bigint } }>>;
    if (type === 'delete')
      told(
        path,
        [...watchers].flatMap(({ session }) => session?.id ?? []),
      );
    fire.call(this, made);
  };
  return known;
}
