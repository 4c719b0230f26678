import type { Lease } from '../../../../lib/contract/lease.js';
import { attempt } from '../../../robustness/traffic/attempt.js';
import { actUntilFinished } from '../desk.js';
import type { Desk } from '../desk.js';
import { workUnder } from '../working.js';

/** Writers that continue as readers. */
export async function downgrade(desk: Desk): Promise<void> {
  let count = 0;
  await actUntilFinished(desk, async () => {
    const key = desk.random.pick(desk.orders.locks.busyKeys);
    const waitMs = desk.random.pick(desk.orders.waitsMs);
    const { read, write } = desk.locks.readWriteLock(key);
    await attempt(desk.journal, { id: `${desk.name}/${++count}`, keys: [key], mode: 'write', waitMs }, (answer) =>
      write.using(
        async (writer) => {
          answer('granted');
          await workUnder(desk, writer, {}, 'write');
          await read.using((reader) => readOn(desk, writer, reader));
        },
        { waitMs },
      ),
    );
  });
}

async function readOn(desk: Desk, writer: Lease, reader: Lease): Promise<void> {
  await writer.release();
  await workUnder(desk, reader, { isDowngraded: true }, 'read');
}
