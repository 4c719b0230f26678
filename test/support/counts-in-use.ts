/** The interval in which a caller worked under a count of segments. All times are of one clock. */
export interface CountInUse {
  readonly segments: number;
  readonly from: number;
  readonly to: number;
}

/**
 * Returns every pair of different counts that were in use at the same time, the later one last. Empty if changes are
 * safe.
 */
export function countsAtOnce(uses: readonly CountInUse[]): string[] {
  const usedUntil = new Map<number, number>();
  const found = new Set<string>();
  for (const { segments, from, to } of [...uses].sort((a, b) => a.from - b.from)) {
    for (const [other, until] of usedUntil) {
      if (other !== segments && from < until) found.add(`${segments} while ${other} was in use`);
    }
    usedUntil.set(segments, Math.max(to, usedUntil.get(segments) ?? 0));
  }
  return [...found];
}
