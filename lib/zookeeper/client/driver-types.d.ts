declare module 'node-zookeeper-client' {
  /** The published types leave out all that this package needs; see driver.ts for the part that is used. */
  const driver: { createClient(connectString: string, options: object): { connectionManager: unknown } };
  export default driver;
}
