/** How many segments the coupons are in: so many are handed out at a time. */
export const SHELVES = 3;

/** One segment of the coupons, as its file says. */
export interface CouponShelf {
  readonly left: number;
  /** The largest fencing token that has written this. JSON has no bigint. */
  readonly token: string;
  /** Who has taken how many. */
  readonly taken: Readonly<Record<string, number>>;
}

export function shelfFile(segment: number): string {
  return `coupons/${segment}`;
}
