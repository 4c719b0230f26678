import type { LockBackend } from '../contract/lock-backend.js';

/** What a local line wants of its backend. */
export type GrantingBackend = Pick<LockBackend, 'acquire' | 'explain' | 'releasesSignals' | 'state'>;
