/** How long to pause before the next attempt: doubling, capped, and random so that clients do not come in step. */
export interface Backoff {
  next(): number;
  reset(): void;
}

export function backoff(firstMs: number, capMs: number, random: () => number = Math.random): Backoff {
  let attempt = 0;
  return {
    next: () => Math.min(capMs, firstMs * 2 ** Math.min(attempt++, 30)) * (0.5 + random() / 2),
    reset: () => {
      attempt = 0;
    },
  };
}
