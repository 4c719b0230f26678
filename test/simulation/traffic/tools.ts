import type { Entry } from '../model/entry.js';
import type { TrafficOrders } from './orders.js';

/** The tools that a simulated process is given. */
export interface TrafficTools {
  /** The name of this incarnation of the process. It is unique. */
  readonly process: string;
  readonly orders: TrafficOrders;
  /** Records an entry of the process at once, in the order of all processes. */
  readonly record: (entry: Entry) => void;
  /** Aborts when the process is to begin nothing new. */
  readonly finishing: AbortSignal;
}

export const TRAFFIC_TOOLS = Symbol('traffic tools');
