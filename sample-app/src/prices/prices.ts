/** Prices in cents. Both are stored, and the second is always the first plus 20 % VAT. */
export interface Prices {
  readonly net: number;
  readonly gross: number;
}

export const grossOf = (net: number): number => (net * 120) / 100;
