declare module 'node-zookeeper-client' {
  /** The published types lack everything that this package needs. The parts that are used are in driver.ts. */
  const driver: { createClient(connectString: string, options: object): { connectionManager: unknown } };
  export default driver;
}
