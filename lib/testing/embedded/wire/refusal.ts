import { ErrorCode } from '../../../zookeeper/wire/codes.js';

/** ZooKeeper's error codes, including those that only a server uses. */
export const ServerErrorCode = { ...ErrorCode, marshallingError: -5, noWatcher: -121, reconfigDisabled: -123 } as const;

/** The reason why a request was not executed, as the error code of its reply. */
export class Refusal extends Error {
  readonly code: number;

  constructor(reason: keyof typeof ServerErrorCode | number) {
    const code = typeof reason === 'number' ? reason : ServerErrorCode[reason];
    super(`refused with ${code}`);
    this.code = code;
  }
}
