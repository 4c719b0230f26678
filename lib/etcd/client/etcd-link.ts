import { deferred } from '../../async/deferred.js';
import {
  authenticateRequest,
  grantRequest,
  leaseRequest,
  rangeRequest,
  txnRequest,
  unwatchRequest,
  watchRequest,
} from '../wire/requests.js';
import type { KeyRange, ReadOp, Txn } from '../wire/requests.js';
import {
  readLeaseResponse,
  readRangeResponse,
  readStatusResponse,
  readToken,
  readTxnResponse,
  readWatchResponse,
} from '../wire/responses.js';
import type {
  Header,
  LeaseResponse,
  ReadResult,
  StatusResponse,
  TxnResponse,
  WatchResponse,
} from '../wire/responses.js';
import type { EtcdClient, GrpcStream } from './etcd-client.js';
import { LinkLostError, refusalOf } from './etcd-error.js';

/** The access to servers that ask for a user. */
export interface User {
  readonly username: string;
  readonly password: string;
}

interface LinkOptions {
  readonly user: User | undefined;
  /** Called once, at the first fault or at `close()`. */
  readonly onClosed: (error: LinkLostError) => void;
}

/** A message without fields. */
const NO_FIELDS = Buffer.alloc(0);

const METHODS = {
  range: '/etcdserverpb.KV/Range',
  txn: '/etcdserverpb.KV/Txn',
  grant: '/etcdserverpb.Lease/LeaseGrant',
  revoke: '/etcdserverpb.Lease/LeaseRevoke',
  keepAlive: '/etcdserverpb.Lease/LeaseKeepAlive',
  watch: '/etcdserverpb.Watch/Watch',
  status: '/etcdserverpb.Maintenance/Status',
  authenticate: '/etcdserverpb.Auth/Authenticate',
} as const;

/**
 * A connection to one server, from its opening to its first fault. After a fault every request that was not answered
 * rejects with a `LinkLostError`. A link is never opened again. A token that has ended is renewed once for a request.
 */
export class EtcdLink {
  readonly #client: EtcdClient;
  readonly #options: LinkOptions;
  #watch: GrpcStream | undefined;
  #authenticated: Promise<void> | undefined;
  #fault: LinkLostError | undefined;

  constructor(client: EtcdClient, options: LinkOptions) {
    this.#client = client;
    this.#options = options;
  }

  get isClosed(): boolean {
    return this.#fault !== undefined;
  }

  /** Opens the connection, with a token if there is a user. @throws LinkLostError, RefusedError */
  async open(limitMs: number): Promise<StatusResponse> {
    if (this.#options.user) await this.#authenticate(limitMs);
    return readStatusResponse(await this.#call(METHODS.status, NO_FIELDS, limitMs));
  }

  /** Reads one range. A majority confirms that it is up to date. @throws LinkLostError, RefusedError */
  async range(read: ReadOp): Promise<ReadResult & Header> {
    return readRangeResponse(await this.#call(METHODS.range, rangeRequest(read)));
  }

  /** @throws LinkLostError, RefusedError */
  async txn(txn: Txn): Promise<TxnResponse> {
    return readTxnResponse(await this.#call(METHODS.txn, txnRequest(txn)));
  }

  /** @param ttl seconds @throws LinkLostError, RefusedError */
  async grant(ttl: number): Promise<LeaseResponse> {
    return readLeaseResponse(await this.#call(METHODS.grant, grantRequest(ttl)));
  }

  /** Ends a lease, and removes its keys. @throws LinkLostError, RefusedError */
  async revoke(lease: bigint): Promise<void> {
    await this.#call(METHODS.revoke, leaseRequest(lease));
  }

  /** Renews a lease. Its answer alone does not prove that the lease lives. @throws LinkLostError, RefusedError */
  async keepAlive(lease: bigint): Promise<LeaseResponse> {
    const answered = deferred<Buffer>();
    const stream = this.#stream(
      METHODS.keepAlive,
      (bytes) => answered.resolve(bytes),
      (error) => answered.reject(error),
    );
    try {
      stream.write(leaseRequest(lease));
      return readLeaseResponse(await answered.promise);
    } catch (error) {
      throw this.#failed(error);
    } finally {
      stream.cancel();
    }
  }

  /** Passes what all watches see to `onResponse`. There is one listener: watches for a former one end. */
  watchBy(onResponse: (response: WatchResponse) => void): void {
    if (this.#fault) return;
    const received = (bytes: Buffer) => {
      // Runs inside the library, where an error would end the process.
      try {
        onResponse(readWatchResponse(bytes));
      } catch (error) {
        this.close('a change could not be handled', error);
      }
    };
    // The next session on a living link begins all watches anew: both streams would tell of each change.
    this.#watch?.cancel();
    this.#watch = this.#stream(METHODS.watch, received, (error) => this.close(error.message, error));
  }

  /** Watches a range. @param from first revision; 0: from now on */
  watch(id: number, range: KeyRange, from: number): void {
    this.#watch?.write(watchRequest(id, range, from));
  }

  unwatch(id: number): void {
    if (!this.isClosed) this.#watch?.write(unwatchRequest(id));
  }

  /** Closes the connection. A second call has no effect. */
  close(why: string, cause?: unknown): void {
    if (this.#fault) return;
    this.#fault = new LinkLostError(why, cause);
    // All calls end with it.
    this.#client.close();
    this.#options.onClosed(this.#fault);
  }

  async #call(method: string, message: Buffer, limitMs?: number): Promise<Buffer> {
    try {
      return await this.#client.call(method, message, { limitMs });
    } catch (error) {
      if (!refusalOf(error)?.isOldToken || !this.#options.user) throw this.#failed(error);
    }
    // A refused request was not carried out.
    await this.#authenticate(limitMs);
    return this.#client.call(method, message, { limitMs }).catch((error: unknown) => {
      throw this.#failed(error);
    });
  }

  /** Gets a token. Requests that need one at the same time share the answer. @throws LinkLostError, RefusedError */
  #authenticate(limitMs?: number): Promise<void> {
    const { username = '', password = '' } = this.#options.user ?? {};
    const message = authenticateRequest(username, password);
    this.#authenticated ??= this.#client
      .call(METHODS.authenticate, message, { limitMs, withoutToken: true })
      .then((answer) => this.#client.useToken(readToken(answer)))
      .catch((error: unknown) => {
        throw this.#failed(error);
      })
      .finally(() => (this.#authenticated = undefined));
    return this.#authenticated;
  }

  #stream(method: string, onMessage: (bytes: Buffer) => void, onEnd: (error: Error) => void): GrpcStream {
    const ended = (error = new Error('the server ended it')) => onEnd(error);
    return this.#client.stream(method, { onMessage, onEnd: ended });
  }

  /** Returns the error of a request. All but a refusal end the link. */
  #failed(error: unknown): Error {
    if (this.#fault) return this.#fault;
    const refusal = refusalOf(error);
    if (!refusal) this.close((error as Error).message, error);
    return refusal ?? this.#fault ?? (error as Error);
  }
}
