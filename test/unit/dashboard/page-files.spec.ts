import { describe, expect, it } from 'vitest';
import { baseOf } from '../../../lib/dashboard/page-files.js';

describe('the base of the page', () => {
  it.each([
    ['/locks', undefined, './locks/'],
    ['/locks/', undefined, './'],
    ['/shop/v1/locks?view=cron', undefined, './locks/'],
    ['/locks/#/leaders', undefined, './'],
    ['/locks', '/behind/locks', '/behind/locks/'],
    ['/locks/', '/behind/locks//', '/behind/locks/'],
  ])('of %s, public at %s, is %s', (url, publicPath, base) => {
    expect(baseOf(url, publicPath)).toBe(base);
  });
});
