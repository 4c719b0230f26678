import type { Scope } from './fail-over.js';

const SMALL: Scope = {
  processes: 2,
  acquisitions: 1,
  ticks: 3,
  failures: 1,
  losses: 0,
  delays: 0,
  lostScripts: 1,
  faults: ['promotion'],
};

/** Scopes that take seconds. Each rule is needed in one of them. */
export const SCOPES = {
  'a promotion': SMALL,
  'a restart without data': { ...SMALL, faults: ['restart without data'] },
  'a split': { ...SMALL, ticks: 4, lostScripts: 0, faults: ['split'] },
  'a lost request': { ...SMALL, ticks: 2, losses: 1 },
  'a late message': { ...SMALL, ticks: 4, failures: 0, delays: 1 },
} as const satisfies Readonly<Record<string, Scope>>;

/** Scopes that take minutes, for `npm run simulate:redis`. */
export const LONG_SCOPES: Readonly<Record<string, Scope>> = {
  'a promotion, two acquisitions each': { ...SMALL, acquisitions: 2, lostScripts: 2 },
  'a promotion and a late message': { ...SMALL, delays: 1 },
  'a promotion and a lost request': { ...SMALL, losses: 1 },
  'two promotions or restarts': { ...SMALL, failures: 2, faults: ['promotion', 'restart without data'] },
  'a split whose replica lacks a script': { ...SMALL, ticks: 4, faults: ['split'] },
  'three processes and a promotion': { ...SMALL, processes: 3, ticks: 2 },
};
