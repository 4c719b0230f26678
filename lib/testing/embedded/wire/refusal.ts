import { ErrorCode } from '../../../zookeeper/wire/error-codes.js';

/** ZooKeeper's error codes, those that only a server names among them. */
export const ServerErrorCode = { ...ErrorCode, marshallingError: -5, noWatcher: -121, reconfigDisabled: -123 } as const;

/** Why a request was not done, as the code that its reply carries. */
export class Refusal extends Error {
  readonly code: number;

  constructor(reason: keyof typeof ServerErrorCode | number) {
    const code = typeof reason === 'number' ? reason : ServerErrorCode[reason];
    super(`refused with ${code}`);
    this.code = code;
  }
}
