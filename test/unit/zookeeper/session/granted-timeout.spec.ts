import { expect, it } from 'vitest';
import { GrantedTimeout } from '../../../../lib/zookeeper/session/lease-clock.js';

function granting(...timeouts: readonly number[]): string[] {
  const warnings: string[] = [];
  const timeout = new GrantedTimeout(10_000);
  timeout.warnTo((message) => warnings.push(message));
  for (const timeoutMs of timeouts) timeout.granted({ sessionId: 1n, timeoutMs, sentAt: 0 });
  return warnings;
}

it('reports nothing for the requested timeout', () => {
  expect(granting(10_000, 10_000)).toEqual([]);
});

it.each([
  [40_000, /grant sessions of 40000 ms, sessionTimeoutMs asks for 10000: the locks of a dead process stay/],
  [4_000, /grant sessions of 4000 ms, sessionTimeoutMs asks for 10000: leases are lost after a shorter outage/],
])('reports once that the servers grant %i', (timeoutMs, message) => {
  expect(granting(timeoutMs, timeoutMs)).toEqual([expect.stringMatching(message)]);
});

it('reports it again for another timeout, or for the same one after the requested one', () => {
  expect(granting(4_000, 5_000, 10_000, 5_000)).toHaveLength(3);
});
