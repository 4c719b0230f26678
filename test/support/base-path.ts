import { randomUUID } from 'node:crypto';

/** A base path that no other test uses. All tests share one server and must not see each other's locks. */
export function freshBasePath(): string {
  return `/test-${randomUUID()}`;
}
