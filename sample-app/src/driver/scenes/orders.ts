import type { Charge } from '../../orders/orders.service.js';
import { tally } from '../answer.js';
import { mostAtOnce } from '../intervals.js';
import type { Scene } from '../scene.js';

export const orders: Scene = {
  name: 'orders',
  story: 'each order goes to all five instances at once, and must be charged once',
  violation: 'charged again',

  async play({ shop, files, sizes }) {
    const ids = Array.from({ length: sizes.orders }, (_, place) => place + 1);
    const place = (id: number) =>
      shop.instances.map((instance) => instance.post(`/orders/${id}/place`, { cents: 999 }));
    const answers = await Promise.all(ids.flatMap(place));
    const charges = await files.records<Charge>('charges');
    return {
      ...tally(answers),
      violations: charges.length - new Set(charges.map(({ orderId }) => orderId)).size,
      remark: `up to ${mostAtOnce(charges)} charges at the same time`,
    };
  },
};
