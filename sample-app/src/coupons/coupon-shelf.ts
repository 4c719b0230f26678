/** The number of segments of the coupons, and so the number of coupons that can be handed out concurrently. */
export const SHELVES = 3;

/** The contents of one segment's file. */
export interface CouponShelf {
  readonly left: number;
  /** The largest fencing token that has written this file. JSON has no bigint. */
  readonly token: string;
  /** The number of coupons taken, by guest. */
  readonly taken: Readonly<Record<string, number>>;
}

export function shelfFile(segment: number): string {
  return `coupons/${segment}`;
}
