import { SHELVES, shelfFile } from '../../coupons/coupon-shelf.js';
import type { CouponShelf } from '../../coupons/coupon-shelf.js';
import type { ShopFiles } from '../../files/shop-files.js';
import { tally } from '../answer.js';
import type { Scene } from '../scene.js';

export const coupons: Scene = {
  name: 'coupons',
  story: `more guests than coupons, which lie in ${SHELVES} segments: an empty one hands on to the next, and none is given twice`,
  violation: 'given twice or kept',

  async play({ shop, files, sizes: { units, buyers } }) {
    const each = Math.floor(units / SHELVES);
    await Promise.all(shelves.map((segment) => files.write(shelfFile(segment), full(each))));
    const guests = Array.from({ length: buyers }, (_, place) => `guest-${place}`);
    const answers = await Promise.all(guests.map((guest) => shop.next.post('/coupons/claim', { guest })));
    const tallied = tally(answers);
    const given = await Promise.all(shelves.map((segment) => givenFrom(files, segment, each)));
    return {
      ...tallied,
      violations: Math.abs(tallied.done - Math.min(each * SHELVES, buyers)),
      remark: `${buyers} guests, ${each * SHELVES} coupons, ${tallied.done} given; from each segment ${given.join(', ')}`,
    };
  },
};

const shelves = Array.from({ length: SHELVES }, (_, segment) => segment);

function full(left: number): CouponShelf {
  return { left, token: '0', taken: {} };
}

async function givenFrom(files: ShopFiles, segment: number, each: number): Promise<number> {
  const { left } = await files.read<CouponShelf>(shelfFile(segment));
  return each - left;
}
