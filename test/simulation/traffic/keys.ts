/** Keys that several programs use, or that plans name. */
export const PERMITS_KEY = 'printers';

/** A semaphore with as many permits as that one. */
export const SHARING_KEY = 'scanners';

const DEEP_LEVELS = 70;

/** A key with more levels than a directory is made with one by one. */
export const DEEP_KEY = Array.from({ length: DEEP_LEVELS }, () => 'd').join('/');

/** Nobody writes it. */
export const CROWD_READ_KEY = 'crowd/read';
export const MIXED_CROWD_KEY = 'crowd/mixed';
export const CROWD_KEY = 'crowd/all';
/** Of which each client has one of its own. */
export const OWN_CROWD_KEY = 'crowd/of';
