import { describe, expect, it } from 'vitest';
import { startLocks } from './locks.js';

describe.each([true, false])('the signals of requests, with a local queue: %s', (localLine) => {
  async function signalsOf(releasesSignals: boolean | undefined) {
    const { locks, backend } = startLocks({ localLine });
    Object.assign(backend, { releasesSignals });
    for (const key of ['a', 'b']) await locks.using(key, () => {});
    return backend.requests.map(({ signal }) => signal);
  }

  it.each([undefined, false])(
    'are not reused where the backend does not declare that it has released them: %s',
    async (said) => {
      const [first, second] = await signalsOf(said);
      expect(second).not.toBe(first);
    },
  );

  it('are reused where the backend releases them', async () => {
    const [first, second] = await signalsOf(true);
    expect(second).toBe(first);
  });
});
