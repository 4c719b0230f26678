import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { METRICS as TABLE, prometheusNameOf } from '../../lib/telemetry/metric-table.js';
import { ROOT } from '../support/repository-root.js';
import { dashboard, expressionsOfPanels, expressionsOfRules, RULES } from './expressions.js';
import { METRICS, OF_OTHERS } from './metric-names.js';

const path = (name: string) => join(ROOT, name);
const read = (name: string) => readFileSync(path(name), 'utf8');

const CASES = 'test/ops/locks.rules.test.yml';

const alertsOf = (rules: string) => [...rules.matchAll(/^ {6}- alert: (\w+)$/gm)].map(([, name = '']) => name);

/** The complaints about the metrics and labels that an expression names. */
function complaintsAbout(expression: string): string[] {
  const selectors = [...expression.matchAll(/\b([a-z_]+)(?:\{([^}]*)\})?/g)].filter(
    ([, name = '', labels]) => name.startsWith('distributed_lock_') || labels !== undefined || OF_OTHERS.includes(name),
  );
  return selectors.flatMap(([, name = '', labels = '']) => {
    if (OF_OTHERS.includes(name)) return [];
    const [base, part] = [name.replace(/_(?:bucket|count|sum)$/, ''), /_(?:bucket|count|sum)$/.exec(name)?.[0]];
    const metric = METRICS[base] ?? METRICS[name];
    if (!metric) return [`no metric "${name}"`];
    if ((metric.kind === 'histogram') !== (part !== undefined)) return [`"${name}" is a ${metric.kind}`];
    const named = [...labels.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = '']) => label);
    return named
      .filter((label) => label !== 'le' && !metric.labels.includes(label))
      .map((label) => `"${name}" has no label "${label}"`);
  });
}

function promtool(...args: string[]): string {
  return execFileSync('promtool', args, { encoding: 'utf8', stdio: 'pipe' });
}

describe('the alerts', () => {
  it('are rules that Prometheus takes', () => {
    expect(promtool('check', 'rules', path(RULES))).toContain(`SUCCESS: ${alertsOf(read(RULES)).length} rules found`);
  });

  it('fire in one case each, and do not in another', () => {
    promtool('test', 'rules', path(CASES));
    const names = [...read(CASES).matchAll(/^ {2}- name: (.*)$/gm)].map(([, name]) => name);
    expect(names).toEqual(alertsOf(read(RULES)).flatMap((alert) => [`${alert} fires`, `${alert} does not fire`]));
  });

  it('of other thresholds are found by their cases', () => {
    const folder = mkdtempSync(join(tmpdir(), 'rules-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const planted = read(RULES).replace(
      'distributed_lock_oldest_hold_seconds) > 300',
      'distributed_lock_oldest_hold_seconds) > 30',
    );
    expect(planted).not.toBe(read(RULES));
    writeFileSync(join(folder, 'rules.yml'), planted);
    writeFileSync(join(folder, 'cases.yml'), read(CASES).replace('../../ops/prometheus/locks.rules.yml', 'rules.yml'));
    expect(() => promtool('test', 'rules', join(folder, 'cases.yml'))).toThrow(/LockHeldLong does not fire/);
  });

  it('are all explained to operators', () => {
    const page = read('docs/operations.md');
    expect(alertsOf(read(RULES)).filter((alert) => !page.includes(`\`${alert}\``))).toEqual([]);
  });
});

describe('the metrics', () => {
  const panels = () => expressionsOfPanels(dashboard());

  it('of rules and panels exist, with their labels', () => {
    const expressions = [...expressionsOfRules(read(RULES)), ...panels()];
    expect(expressions.length).toBeGreaterThan(40);
    expect(expressions.flatMap(complaintsAbout)).toEqual([]);
  });

  it('are all shown by a panel', () => {
    const shown = panels().join('\n');
    expect(Object.keys(METRICS).filter((name) => !shown.includes(name))).toEqual([]);
  });

  it('of another name, another kind or with another label are found', () => {
    expect(complaintsAbout('rate(distributed_lock_waits_total[5m]) > 1')).toEqual([
      'no metric "distributed_lock_waits_total"',
    ]);
    expect(complaintsAbout('distributed_lock_wait_duration_seconds > 1')).toEqual([
      '"distributed_lock_wait_duration_seconds" is a histogram',
    ]);
    expect(complaintsAbout('distributed_lock_held{key="a"}')).toEqual(['"distributed_lock_held" has no label "key"']);
    expect(complaintsAbout('up{job="a"}')).toEqual(['no metric "up"']);
  });

  it('are those of the table of the code', () => {
    const inCode = Object.values(TABLE).map((metric): [string, (typeof METRICS)[string]] => [
      prometheusNameOf(metric),
      { kind: metric.kind, labels: metric.labels },
    ]);
    expect(METRICS).toEqual(Object.fromEntries(inCode));
  });
});

/** Lets Prometheus parse expressions of panels, with the variables of Grafana filled in. @throws what is wrong with them */
function parse(expressions: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'panels-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const filled = expressions.map((one) => one.replaceAll(/\$__\w*interval/g, '1m').replaceAll(/\$\{?\w+\}?/g, '.*'));
  const rules = filled.map((expr, at) => ({ record: `panel:${at}`, expr }));
  // JSON is YAML as well.
  writeFileSync(join(folder, 'panels.yml'), JSON.stringify({ groups: [{ name: 'panels', rules }] }));
  return promtool('check', 'rules', '--lint=none', join(folder, 'panels.yml'));
}

describe('the dashboard', () => {
  it('has expressions that Prometheus takes', () => {
    const expressions = expressionsOfPanels(dashboard());
    expect(parse(expressions)).toContain(`SUCCESS: ${expressions.length} rules found`);
    expect(() => parse(['sum(rate(distributed_lock_lost_total[5m])'])).toThrow(/parse error/);
  });

  it('names no variable that it does not have, and gives each panel an id of its own', () => {
    const { panels, templating } = dashboard();
    const named = [...JSON.stringify(panels).matchAll(/\$\{?([a-z]+)\}?/g)].map(([, name]) => name);
    const known = templating.list.map(({ name }) => name);
    expect([...new Set(named)].filter((name) => !known.includes(name ?? ''))).toEqual([]);
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  });

  it('takes its source from the importing Grafana', () => {
    const { __inputs, panels, templating } = dashboard();
    expect(__inputs.map(({ pluginId }) => pluginId)).toEqual(['prometheus']);
    expect(templating.list.map(({ name }) => name)).toEqual(['datasource', 'connection', 'lock']);
    const sources = panels.filter(({ type }) => type !== 'row').map(({ datasource }) => datasource);
    expect(new Set(sources.map((source) => JSON.stringify(source)))).toEqual(
      new Set([JSON.stringify({ type: 'prometheus', uid: '${datasource}' })]),
    );
  });
});
