import type { Scene } from '../scene.js';
import { coupons } from './coupons.js';
import { isolation } from './isolation.js';
import { jobs } from './jobs.js';
import { orders } from './orders.js';
import { poller } from './poller.js';
import { prices } from './prices.js';
import { reports } from './reports.js';
import { stock } from './stock.js';
import { transfers } from './transfers.js';

export const SCENES: readonly Scene[] = [orders, prices, transfers, isolation, stock, coupons, jobs, reports, poller];
