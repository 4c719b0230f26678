import { parseArgs } from 'node:util';

/** How much happens in each scene. */
export interface Sizes {
  readonly orders: number;
  readonly shoppers: number;
  readonly quotesEach: number;
  readonly reprices: number;
  readonly transfers: number;
  readonly units: number;
  readonly buyers: number;
  readonly reportSeconds: number;
  /** Before the leader is killed, and after. */
  readonly polls: number;
}

const NORMAL: Sizes = {
  orders: 60,
  shoppers: 30,
  quotesEach: 12,
  reprices: 30,
  transfers: 160,
  units: 300,
  buyers: 400,
  reportSeconds: 5,
  polls: 40,
};

const SHORT: Sizes = {
  orders: 15,
  shoppers: 12,
  quotesEach: 5,
  reprices: 8,
  transfers: 40,
  units: 60,
  buyers: 100,
  reportSeconds: 2,
  polls: 15,
};

const MOST = 2_000;

export const USAGE = `A small shop, run by five instances that share files, with ZooKeeper between them.

npm run sample                       the whole show, less than a minute
npm run sample -- --short            less of everything, for CI
npm run sample -- --units 50 --buyers 500
npm run sample -- --help

ZOOKEEPER_CONNECT=host:port npm run sample   uses a ZooKeeper that runs already; otherwise one is started on 127.0.0.1
                                             and stopped at the end.`;

/** @throws TypeError for what is not an option */
export function parseOptions(args: readonly string[]): { readonly help: boolean; readonly sizes: Sizes } {
  const { values } = parseArgs({
    args: [...args],
    options: {
      help: { type: 'boolean', short: 'h', default: false },
      short: { type: 'boolean', default: false },
      units: { type: 'string' },
      buyers: { type: 'string' },
    },
  });
  const sizes = values.short ? SHORT : NORMAL;
  const units = count('units', values.units, sizes.units);
  const buyers = count('buyers', values.buyers, sizes.buyers);
  return { help: values.help, sizes: { ...sizes, units, buyers } };
}

function count(option: string, text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= MOST) return value;
  throw new TypeError(`--${option} must be a whole number from 1 to ${MOST}, not '${text}'`);
}
