export const KEY = 'path/taken';

/** Longer than the beginning of a wait, and shorter than the period of anything that happens regularly. */
export const SETTLED_MS = 200;
