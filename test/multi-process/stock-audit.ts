import type { Account } from './stock-run.js';

/** Returns a description of everything that is wrong with the sale. */
export function audit({ told, sold, taken, available, leftovers }: Account, units: number): string[] {
  const complaints: string[] = [];
  const complain = (isWrong: boolean, complaint: string) => isWrong && complaints.push(complaint);
  const sum = (of: ReadonlyMap<string, number>) => [...of.values()].reduce((total, one) => total + one, 0);

  complain(sum(sold) > units, `oversold: ${sum(sold)} of ${units}`);
  complain(sum(sold) + available < units, `lost: ${units - sum(sold) - available}`);
  complain(sum(sold) + available > units, `out of nothing: ${sum(sold) + available - units}`);
  complain(leftovers > 0, `${leftovers} orders are not decided`);
  for (const [orderId, of] of new Map([...sold, ...taken])) {
    const [recorded, stored] = [sold.get(orderId) ?? 0, taken.get(orderId) ?? 0];
    complain(recorded !== stored, `${orderId}: ${recorded} recorded as sold, ${stored} taken, not ${of}`);
  }
  for (const { orderId, quantity, isSold } of told) {
    const recorded = sold.get(orderId) ?? 0;
    complain(isSold && recorded !== quantity, `${orderId}: was told of ${quantity}, ${recorded} are recorded`);
    // No units are returned at the end: what is left now was available when the order was denied.
    complain(!isSold && available >= quantity, `${orderId}: denied ${quantity} of ${available} that are left`);
  }
  return complaints;
}
