import { ordersOf } from './orders.js';
import type { CronOrders } from './orders.js';

// A wrong wall clock for everything that is loaded after this module: cron, its calendar and the package.
const { skewMs } = ordersOf<CronOrders>();
const skewedNow = (clock: DateConstructor) => clock.now() + skewMs;

globalThis.Date = new Proxy(Date, {
  construct: (clock, args, made): object => Reflect.construct(clock, args.length > 0 ? args : [skewedNow(clock)], made),
  get: (clock, name): unknown => (name === 'now' ? () => skewedNow(clock) : Reflect.get(clock, name)),
});
