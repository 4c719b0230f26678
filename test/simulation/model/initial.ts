/** The initial state of objects. The traffic creates them with it, and judges begin from it. */
export const INITIAL_VALUE = '';
export const INITIAL_PERMITS = 3;
