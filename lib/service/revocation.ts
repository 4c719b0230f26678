import { LockConfigurationError } from '../contract/errors.js';
import type { LockBackend } from '../contract/lock-backend.js';
import { resolveRevokeOptions } from '../contract/revoke.options.js';
import type { RevokeOptions } from '../contract/revoke.options.js';

/** Takes the key away from its holders, in their own time or after it. */
export async function revokeKey(backend: LockBackend, key: string, options: RevokeOptions): Promise<void> {
  const resolved = resolveRevokeOptions(options);
  backend.identify(key);
  if (!backend.revoke) throw new LockConfigurationError(`the backend "${backend.name}" can not revoke`, { key });
  await backend.revoke(key, resolved);
}
