import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../support/repository-root.js';

/** The rules for Prometheus, below the root of the repository. */
export const RULES = 'ops/prometheus/locks.rules.yml';
const DASHBOARD = 'ops/grafana/locks.json';

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly datasource?: unknown;
  readonly targets?: readonly { readonly expr: string }[];
}

/** The dashboard for Grafana, as far as tests look at it. */
export interface Dashboard {
  readonly __inputs: readonly { readonly pluginId: string }[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly definition?: string }[] };
  readonly panels: readonly Panel[];
}

export function dashboard(): Dashboard {
  return JSON.parse(readFileSync(join(ROOT, DASHBOARD), 'utf8')) as Dashboard;
}

/** The expressions of the rules, on one line or on several. */
export function expressionsOfRules(rules: string): string[] {
  const found = [...rules.matchAll(/^ {8}expr: (?:\|\n((?: {10}.*\n)+)|(.*)\n)/gm)];
  return found.map(([, block, line]) => block ?? line ?? '');
}

export function expressionsOfPanels({ panels }: Dashboard): string[] {
  return panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
}
