/** What things are while nobody has changed them: what the traffic makes them with, and judges begin from. */
export const INITIAL_VALUE = '';
export const INITIAL_PERMITS = 3;
