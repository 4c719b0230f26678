import { LockConfigurationError } from '../contract/errors.js';

/** @throws LockConfigurationError unless all segments of an order or a delivery still exist */
export function mustHave(
  key: string,
  id: string,
  segments: readonly number[],
  exists: (segment: number) => boolean,
): void {
  const removed = segments.filter((segment) => !exists(segment));
  if (removed.length === 0) return;
  const [last, fewest] = [Math.max(...removed), Math.max(...removed) + 1];
  const text = `"${key}" has no segment ${last} any more to put units of "${id}" into: resize it to ${fewest} segments`;
  throw new LockConfigurationError(`${text} or more, and repeat the call`, { key });
}
