import type { ShiftPart } from '../../jobs/jobs.service.js';
import { tally } from '../answer.js';
import type { Scene } from '../scene.js';

export const jobs: Scene = {
  name: 'jobs',
  story: 'parcels are put into a queue; five instances open together, pack each once, and go home together',
  violation: 'parcels packed twice or never, or instances gone home early',

  async play({ shop, files, sizes }) {
    await shop.next.post('/jobs/close', {});
    const shifts = shop.instances.map((instance) => instance.post('/jobs/shift', {}));
    const parcels = Array.from({ length: sizes.parcels }, (_, parcel) => parcel);
    const orders = await Promise.all(parcels.map((parcel) => shop.next.post('/jobs', { parcel })));
    await shop.next.post('/jobs/open', {});
    const answers = [...orders, ...(await Promise.all(shifts))];
    const packed = (await files.records<{ parcel: number }>('packed')).map(({ parcel }) => parcel);
    const times = parcels.map((parcel) => packed.filter((other) => other === parcel).length);
    const parts = await files.records<ShiftPart>('shifts');
    const lastDone = Math.max(...parts.map(({ done }) => done));
    const early = parts.filter(({ home }) => home < lastDone).length;
    return {
      ...tally(answers),
      violations: times.filter((count) => count !== 1).length + early,
      remark: `${packed.length} of ${parcels.length} parcels packed by ${parts.length} instances, ${early} went home early`,
    };
  },
};
