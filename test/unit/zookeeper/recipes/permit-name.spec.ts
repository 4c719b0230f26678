import { describe, expect, it } from 'vitest';
import { countPermits, permitNumber } from '../../../../lib/zookeeper/recipes/permit-view.js';
import { contenderNameOf } from '../../../../lib/zookeeper/recipes/contender-znode.js';

const NAME = '_c_00000000-0000-0000-0000-000000000000-lease-0000000007';

describe('a permit’s name', () => {
  it.each([
    [NAME, 7],
    ['lease-0000000000', 0],
    ['_c_x-lease--2147483648', -2_147_483_648],
    ['lease-7', undefined],
    ['_c_x-lock-0000000007', undefined],
    ['permits', undefined],
    [`${NAME}-`, undefined],
  ])('%s has the number %s', (name, number) => {
    expect(permitNumber(name)).toBe(number);
  });

  it('is not a contender of a lock, and no contender is a permit', () => {
    expect(contenderNameOf(NAME)).toBeUndefined();
    expect(countPermits([NAME, '_c_x-lock-0000000001', '_c_x-__READ__0000000002', 'x', 'lease-0000000003'])).toBe(2);
  });
});
