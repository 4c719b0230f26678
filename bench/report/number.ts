/**
 * Returns a number with three significant digits, or with all digits before the point. A missing or infinite number is
 * a dash.
 */
export function shortNumber(value: number | undefined): string {
  if (value === undefined || !Number.isFinite(value)) return '-';
  const size = Math.abs(value);
  if (size >= 100) return Math.round(value).toLocaleString('en-US');
  return value.toFixed(size >= 10 ? 1 : size >= 0.1 || size === 0 ? 2 : 4);
}
