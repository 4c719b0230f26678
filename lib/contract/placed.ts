/** Where in the application a lease was asked for. Its text is made when somebody wants it. */
export interface Place {
  toString(): string;
}

/** Not a field that applications can set, and copied with the options that it stands in. */
export const PLACE: unique symbol = Symbol('place');

/** Options of a call whose place is known already: a decorator's, or of a lock that is made of others. */
export interface Placed {
  readonly [PLACE]?: Place | undefined;
}
