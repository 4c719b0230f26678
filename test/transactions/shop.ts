import { Injectable } from '@nestjs/common';

/** What takes time between lock and write: the moment in which a holder can fall behind. */
@Injectable()
export class Payments {
  async charge(_sku: string): Promise<void> {}
}

/** What each example sells. */
export interface Shop {
  /** Takes one unit. @throws ConflictException when a newer holder of the lock has written */
  take(sku: string): Promise<void>;
}
