import type { Account } from './stock-run.js';

/** Everything that is wrong with what was sold, in words. */
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
    // Nobody gives anything back in the end: what is left now was there when they were denied it.
    complain(!isSold && available >= quantity, `${orderId}: denied ${quantity} of ${available} that are left`);
  }
  return complaints;
}
