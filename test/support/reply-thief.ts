import { createServer, connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { deferred } from '../../lib/async/deferred.js';

const OP_TYPE_OFFSET = 8;

/** A proxy that forwards a request and drops its reply: the server has applied it, the client cannot know. */
export interface ReplyThief {
  readonly connectString: string;
  /** Lets the next request of this type reach the server, and cuts the connection instead of forwarding its reply. */
  stealNext(opType: number): Promise<void>;
  /** Cuts the connection before the next request of this type reaches the server. */
  cutBefore(opType: number): Promise<void>;
  /** Resolves when this many more requests of this type have been sent. They are forwarded. */
  passed(opType: number, count: number): Promise<void>;
  /** Whether new connections reach the server. True at first. */
  isOpen: boolean;
}

interface Plan {
  readonly opType: number;
  readonly forward: boolean;
  readonly done: () => void;
}

/** A number of requests of one type that are still to come. */
interface Tally {
  readonly opType: number;
  left: number;
  readonly done: () => void;
}

export async function openReplyThief(target: string): Promise<ReplyThief> {
  const port = Number(target.split(':').at(-1));
  let plan: Plan | undefined;
  const tallies: Tally[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    if (!thief.isOpen) return client.destroy();
    const upstream = connect(port, '127.0.0.1');
    const cut = () => [client, upstream].forEach((socket) => socket.destroy());
    [client, upstream].forEach((socket) => sockets.add(socket.on('error', cut).on('close', cut)));
    let stealing: Plan | undefined;
    client.on('data', (bytes: Buffer) => {
      const types = opTypes(bytes);
      for (const tally of tallies) {
        tally.left -= types.filter((type) => type === tally.opType).length;
        if (tally.left <= 0) tally.done();
      }
      if (plan && types.includes(plan.opType)) {
        stealing = plan;
        plan = undefined;
      }
      if (stealing?.forward === false) {
        cut();
        return stealing.done();
      }
      upstream.write(bytes);
    });
    upstream.on('data', (bytes: Buffer) => {
      if (!stealing) return client.write(bytes);
      cut();
      return stealing.done();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    sockets.forEach((socket) => socket.destroy());
  });
  const arm = (opType: number, forward: boolean) => {
    const stolen = deferred();
    plan = { opType, forward, done: stolen.resolve };
    return stolen.promise;
  };
  const thief: ReplyThief = {
    connectString: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    stealNext: (opType) => arm(opType, true),
    cutBefore: (opType) => arm(opType, false),
    passed: (opType, count) => new Promise((done) => void tallies.push({ opType, left: count, done })),
    isOpen: true,
  };
  return thief;
}

/** Returns the request types in a chunk of whole frames. The driver writes each request at once. */
function opTypes(bytes: Buffer): number[] {
  const types: number[] = [];
  for (let offset = 0; offset + OP_TYPE_OFFSET + 4 <= bytes.length; offset += 4 + bytes.readInt32BE(offset)) {
    types.push(bytes.readInt32BE(offset + OP_TYPE_OFFSET));
  }
  return types;
}
