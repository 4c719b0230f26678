import { tally } from '../answer.js';
import type { Scene } from '../scene.js';

export const stock: Scene = {
  name: 'stock',
  story: 'more buyers than units, all at once, and no unit must be sold twice',
  violation: 'oversold',

  async play({ shop, files, sizes: { units, buyers } }) {
    await files.write('stock', units);
    const tallied = tally(await Promise.all(Array.from({ length: buyers }, () => shop.next.post('/stock/buy'))));
    const left = await files.read<number>('stock');
    return {
      ...tallied,
      // A negative result means units that disappeared without a buyer, which is just as wrong.
      violations: tallied.done - Math.min(units, buyers),
      remark: `${buyers} buyers, ${units} units, ${tallied.done} sold; the counter says ${left} left`,
    };
  },
};
