import { afterAll, vi } from 'vitest';

/** Spec files that share a worker share its globals. No file leaves a faked clock or a mock to the next one. */
afterAll(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
});
