/** A seat on a flight, paid from a guest's wallet. */
export interface Trip {
  readonly flight: string;
  readonly guest: string;
  readonly euros: number;
  /** Whether the bank will refuse the payment after seat and wallet have been changed. */
  readonly isRefused: boolean;
}

/** Returns the rows that a trip changes: the seats of its flight, the guest's wallet. */
export function rowsOf({ flight, guest }: Trip): readonly [seats: string, wallet: string] {
  return [`seats/${flight}`, `wallets/${guest}`];
}
