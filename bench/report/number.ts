/** A number with three digits that mean something, or all of them before the point; a dash when there is none, or no end to it. */
export function shortNumber(value: number | undefined): string {
  if (value === undefined || !Number.isFinite(value)) return '-';
  const size = Math.abs(value);
  if (size >= 100) return Math.round(value).toLocaleString('en-US');
  return value.toFixed(size >= 10 ? 1 : size >= 0.1 || size === 0 ? 2 : 4);
}
