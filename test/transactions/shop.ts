import { Injectable } from '@nestjs/common';

/** A pause between lock and write, in which a holder can lose its lease. */
@Injectable()
export class Payments {
  async charge(_sku: string): Promise<void> {}
}

/** The interface that each example implements. */
export interface Shop {
  /** Takes one unit. @throws ConflictException if a newer holder of the lock has written */
  take(sku: string): Promise<void>;
}
