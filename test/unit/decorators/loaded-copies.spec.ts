import { expect, it, vi } from 'vitest';

it('treats a file that is loaded again, as by test runners, as the same copy', async () => {
  const { severalCopies } = await import('../../../lib/service/loaded-copies.js');
  expect(severalCopies()).toBeUndefined();
  vi.resetModules();
  const again = await import('../../../lib/service/loaded-copies.js');
  expect(again.severalCopies).not.toBe(severalCopies);
  expect(again.severalCopies()).toBeUndefined();
});
