/** A contender's znode was deleted by somebody else: it has lost its place in line. */
export class PlaceLostError extends Error {
  constructor(path: string) {
    super(`the contender ${path} was deleted from outside`);
    this.name = 'PlaceLostError';
  }
}
