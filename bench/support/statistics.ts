/** Returns the value that `share` of the values do not exceed: 0.5 is the median. */
export function quantile(values: readonly number[], share: number): number {
  const inOrder = Float64Array.from(values).sort();
  return inOrder[Math.min(inOrder.length - 1, Math.floor(share * inOrder.length))] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}
