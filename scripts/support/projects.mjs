import { readFileSync } from 'node:fs';
import { ROOT } from './command.mjs';

/** The projects of vitest.config.ts. Read without it: its packages may not be installed yet. */
const PROJECTS = JSON.parse(readFileSync(new URL('test/projects.json', ROOT), 'utf8'));

/** The projects that `args` name, of either run, or else all of the run. */
export function projectsOf(run, args) {
  const named = [...args.join(' ').matchAll(/--project[= ](\S+)/g)].map(([, name]) => name);
  if (named.length > 0) return named;
  return Object.keys(PROJECTS).filter((name) => PROJECTS[name].run === run);
}

/** Those among them that are about a real ZooKeeper. */
export function needZooKeeper(names) {
  return names.filter((name) => PROJECTS[name]?.needs === 'zookeeper');
}

/** The arguments for vitest. */
export function projectArgs(names, args) {
  return [...names.flatMap((name) => ['--project', name]), ...withoutProjects(args)];
}

function withoutProjects(args) {
  return args.filter((arg, place) => !arg.startsWith('--project') && args[place - 1] !== '--project');
}

/** Those among them that need a Redis server. */
export function needRedis(names) {
  return names.filter((name) => PROJECTS[name]?.needs === 'redis');
}

/** Those among them that need an etcd server. */
export function needEtcd(names) {
  return names.filter((name) => PROJECTS[name]?.needs === 'etcd');
}

/** Those among them that need a browser. */
export function needBrowser(names) {
  return names.filter((name) => PROJECTS[name]?.needs === 'chromium');
}

/** Those among them that need the tools of Prometheus. */
export function needPrometheus(names) {
  return names.filter((name) => PROJECTS[name]?.needs === 'prometheus');
}
