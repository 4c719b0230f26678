import { rowsOf } from '../../isolation/trip.js';
import type { Trip } from '../../isolation/trip.js';
import { isDone, tally } from '../answer.js';
import type { Scene } from '../scene.js';

const FLIGHTS = ['lisbon', 'oslo', 'rome'];
const GUESTS = ['anna', 'ben', 'cleo', 'dan', 'eve'];
const SEATS_EACH = 1_000;
const EUROS_EACH = 100_000;
// The bank refuses every third trip.
const REFUSED_EVERY = 3;

export const isolation: Scene = {
  name: 'isolation',
  story: 'trips change a seat and a wallet, in two stores, and some are taken back when the bank says no',
  violation: 'rows that do not add up',

  async play({ shop, files, sizes }) {
    const rows = new Map<string, number>([
      ...FLIGHTS.map((flight) => [`seats/${flight}`, SEATS_EACH] as const),
      ...GUESTS.map((guest) => [`wallets/${guest}`, EUROS_EACH] as const),
    ]);
    for (const [row, value] of rows) await files.write(row, value);
    const wanted = Array.from({ length: sizes.trips }, (_, n) => tripOf(n));
    const answers = await Promise.all(wanted.map((trip) => shop.next.post('/trips', trip)));
    const booked = wanted.filter((_, place) => isDone(answers[place]!));
    for (const trip of booked) {
      const [seats, wallet] = rowsOf(trip);
      rows.set(seats, rows.get(seats)! - 1);
      rows.set(wallet, rows.get(wallet)! - trip.euros);
    }
    const found = await Promise.all([...rows.keys()].map((row) => files.read<number>(row)));
    const wrong = [...rows.values()].filter((value, place) => value !== found[place]);
    return {
      ...tally(answers),
      violations: wrong.length,
      remark: `${booked.length} trips were booked, ${wanted.length - booked.length} taken back, on ${rows.size} rows`,
    };
  },
};

function tripOf(n: number): Trip {
  return {
    flight: FLIGHTS[n % FLIGHTS.length]!,
    guest: GUESTS[n % GUESTS.length]!,
    euros: 10 + (n % 7),
    isRefused: n % REFUSED_EVERY === n % 2,
  };
}
