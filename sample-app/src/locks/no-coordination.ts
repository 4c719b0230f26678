import { setTimeout as pause } from 'node:timers/promises';
import { GrantedLease } from 'nestjs-distributed-lock';
import type {
  Barriers,
  Cell,
  CellChange,
  Cells,
  CellWrite,
  CoordinationBackend,
  EnteredMember,
  QueuePutRequest,
  Queues,
  QueueTakeRequest,
  TakenItem,
} from 'nestjs-distributed-lock';
import { ShopFiles } from '../files/shop-files.js';

const LOOKING_TAKES_MS = 5;

const leaseOn = (key: string) =>
  new GrantedLease({ key, mode: 'exclusive', fencingToken: 0n, isCurrent: () => true, giveBack: async () => {} });

/** Quickly written queues: a list in a shared file. */
class FileQueues implements Queues {
  constructor(private readonly files: ShopFiles) {}

  async put({ key, payloads }: QueuePutRequest): Promise<boolean> {
    const list = await this.listOf(key);
    await this.files.write(`queues/${key}`, [...list, ...payloads.map(String)]);
    return true;
  }

  async take({ key, atMost }: QueueTakeRequest): Promise<readonly TakenItem[]> {
    const list = await this.listOf(key);
    await pause(LOOKING_TAKES_MS);
    await this.files.write(`queues/${key}`, list.slice(atMost));
    return list.slice(0, atMost).map((text) => ({
      id: text,
      payload: Buffer.from(text),
      lease: leaseOn(key),
      ack: async () => {},
    }));
  }

  async size(key: string): Promise<number> {
    return (await this.listOf(key)).length;
  }

  private async listOf(key: string): Promise<readonly string[]> {
    return (await this.files.find<string[]>(`queues/${key}`)) ?? [];
  }
}

/** Barriers that never block. */
class NoBarriers implements Barriers {
  async raise(): Promise<void> {}

  async lift(): Promise<void> {}

  async pass(): Promise<boolean> {
    return true;
  }

  async enter({ key }: { readonly key: string }): Promise<EnteredMember> {
    return { lease: leaseOn(key), leave: async () => {} };
  }
}

/** Values that no other instance sees. */
class NoCells implements Cells {
  async read(): Promise<Cell | undefined> {
    return undefined;
  }

  async write(_key: string, { data }: CellChange): Promise<CellWrite> {
    return { isApplied: true, version: data && 0 };
  }

  next(): Promise<Cell | undefined> {
    return new Promise(() => {});
  }
}

export function noCoordination(shopDir: string): CoordinationBackend {
  return { queues: new FileQueues(new ShopFiles(shopDir)), barriers: new NoBarriers(), cells: new NoCells() };
}
