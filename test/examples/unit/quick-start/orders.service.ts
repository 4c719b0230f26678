import { Injectable } from '@nestjs/common';
import { assertHeld, DistributedLock, key } from 'nestjs-distributed-lock';

@Injectable()
export class OrdersService {
  @DistributedLock((id: string) => key`order/${id}`, { waitMs: 2_000 })
  async pay(id: string) {
    // The last look before the step that must not overlap. The token grows with every holder: a database can refuse a smaller one.
    const { fencingToken } = assertHeld();
    return { id, token: String(fencingToken) };
  }
}
