import type { MultiOp, TransactionReply, ZooKeeperClient } from '../../../../lib/zookeeper/client/zookeeper-client.js';

const notAsked = () => Promise.reject(new Error('this client answers heartbeats only'));

/** A client without a connection: it writes down what it is asked, and answers as it is told. */
export class AnsweringClient implements ZooKeeperClient {
  readonly asked: string[] = [];
  unansweredSince: number | undefined;
  readonly lastError = undefined;
  /** The error codes of the next transactions' operations; without, all are applied. */
  errors: readonly number[] | undefined;
  /** What the next transactions reject with. */
  failure: unknown;

  connect(): void {
    this.asked.push('connect');
  }

  ping(): void {
    this.asked.push('ping');
  }

  dropLink(): void {
    this.asked.push('drop');
  }

  async multi(ops: readonly MultiOp[]): Promise<TransactionReply> {
    this.asked.push(ops.map(({ type, path }) => `${type} ${path}`).join(', '));
    if (this.failure !== undefined) throw this.failure;
    return { results: ops.map((_, place) => ({ error: this.errors?.[place] ?? 0 })), zxid: 1n };
  }

  async close(): Promise<void> {
    this.asked.push('close');
  }

  readonly create = notAsked;
  readonly delete = notAsked;
  readonly children = notAsked;
  readonly read = notAsked;
  readonly watch = notAsked;
  readonly sync = notAsked;
}
