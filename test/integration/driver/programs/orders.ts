/** Parses the orders, which are the only argument, as JSON. */
export function ordersOf<T>(): T {
  return JSON.parse(process.argv[2] ?? '') as T;
}

/** Sends a message to the process that started this program. */
export function say(message: unknown): void {
  process.send?.(message);
}

/** Lets this program end by itself. The channel to the parent process keeps it running otherwise. */
export function hangUp(): void {
  process.disconnect?.();
}
