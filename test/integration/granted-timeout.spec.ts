import { Logger } from '@nestjs/common';
import { expect, inject, it, onTestFinished, vi } from 'vitest';
import { freshBasePath } from '../support/base-path.js';
import { openService } from '../support/services.js';

// More than any server grants by default.
const TOO_LONG_MS = 24 * 3_600_000;

function warnings(): string[] {
  const warn = vi.spyOn(Logger.prototype, 'warn').mockImplementation(() => {});
  onTestFinished(() => warn.mockRestore());
  return warn.mock.calls as never;
}

it('a session timeout that the servers do not grant is logged, with the one that they do', async () => {
  const logged = warnings();
  const service = await openService({
    connectString: inject('zookeeper'),
    basePath: freshBasePath(),
    sessionTimeoutMs: TOO_LONG_MS,
  });
  await using _held = await service.acquire('k');
  expect(logged).toEqual([[expect.stringMatching(/grant sessions of \d+ ms, sessionTimeoutMs asks for 86400000: /)]]);
});

it('a session timeout that the servers grant is not logged', async () => {
  const logged = warnings();
  const service = await openService({ connectString: inject('zookeeper'), basePath: freshBasePath() });
  await using _held = await service.acquire('k');
  expect(logged).toEqual([]);
});
