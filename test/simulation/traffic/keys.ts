/** Keys that several programs use, or that plans name. */
export const PERMITS_KEY = 'printers';

/** The key of a semaphore that shares the number of permits of that one. */
export const SHARING_KEY = 'scanners';

const DEEP_LEVELS = 70;

/** A key with more levels than are created one by one for a directory. */
export const DEEP_KEY = Array.from({ length: DEEP_LEVELS }, () => 'd').join('/');

/** A key that nobody writes. */
export const CROWD_READ_KEY = 'crowd/read';
export const MIXED_CROWD_KEY = 'crowd/mixed';
export const CROWD_KEY = 'crowd/all';
/** The parent of keys of which each client has its own. */
export const OWN_CROWD_KEY = 'crowd/of';
