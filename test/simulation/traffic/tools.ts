import type { Entry } from '../model/entry.js';
import type { TrafficOrders } from './orders.js';

/** What a simulated process is given. */
export interface TrafficTools {
  /** The name of this incarnation of the process, the same in no other. */
  readonly process: string;
  readonly orders: TrafficOrders;
  /** Takes down what the process says of itself, at once and in the order of all processes. */
  readonly record: (entry: Entry) => void;
  /** Aborts when the process is to begin nothing new. */
  readonly finishing: AbortSignal;
}

export const TRAFFIC_TOOLS = Symbol('traffic tools');
