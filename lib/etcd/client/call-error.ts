/** Codes of gRPC for faults that the client finds itself. */
export const CODES = { deadline: 4, internal: 13, unavailable: 14 } as const;

/** A call has failed. */
export class CallError extends Error {
  constructor(
    /** The code of gRPC. */
    readonly code: number,
    message: string,
  ) {
    super(message);
    this.name = 'CallError';
  }
}
