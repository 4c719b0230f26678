export const KEY = 'path/taken';

/** Longer than what a wait begins with, and shorter than anything that happens once in a while. */
export const SETTLED_MS = 200;
