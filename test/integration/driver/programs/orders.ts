/** The orders are the one argument, as JSON. */
export function ordersOf<T>(): T {
  return JSON.parse(process.argv[2] ?? '') as T;
}

/** Tells the one who started this program. */
export function say(message: unknown): void {
  process.send?.(message);
}

/** Lets this program end by itself: the channel to the one who started it keeps it running otherwise. */
export function hangUp(): void {
  process.disconnect?.();
}
