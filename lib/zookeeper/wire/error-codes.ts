/** ZooKeeper's error codes (org.apache.zookeeper.KeeperException.Code), as far as this package handles them. */
export const ErrorCode = {
  ok: 0,
  systemError: -1,
  runtimeInconsistency: -2,
  connectionLoss: -4,
  unimplemented: -6,
  operationTimeout: -7,
  badArguments: -8,
  noNode: -101,
  noAuth: -102,
  badVersion: -103,
  noChildrenForEphemerals: -108,
  nodeExists: -110,
  notEmpty: -111,
  sessionExpired: -112,
  invalidAcl: -114,
  authFailed: -115,
  sessionMoved: -118,
  quotaExceeded: -125,
  throttled: -127,
} as const;

/** The code's name, or the number itself for a code that is not listed. Newer servers have more codes. */
export function errorName(code: number): string {
  const found = Object.entries(ErrorCode).find(([, value]) => value === code);
  return found ? found[0] : `code ${code}`;
}
