import { readFileSync } from 'node:fs';
import { ROOT } from './command.mjs';

/** The projects of vitest.config.ts. Read without it: its packages may not be installed yet. */
const PROJECTS = JSON.parse(readFileSync(new URL('test/projects.json', ROOT), 'utf8'));

/** The projects that `args` name, of either run, or else all of the run. */
export function projectsOf(run, args) {
  const named = [...args.join(' ').matchAll(/--project[= ](\S+)/g)].map(([, name]) => name);
  // With a project come its files that have a process each.
  if (named.length > 0)
    return named.flatMap((name) => [name, `${name}-alone`]).filter((name) => name in PROJECTS || named.includes(name));
  return Object.keys(PROJECTS).filter((name) => PROJECTS[name].run === run);
}

/** The projects among them that need a real `zookeeper`, a server of `redis` or `etcd`, `chromium` or `prometheus`. */
export function needing(what, names) {
  return names.filter((name) => [PROJECTS[name]?.needs].flat().includes(what));
}

/** The arguments for vitest. */
export function projectArgs(names, args) {
  return [...names.flatMap((name) => ['--project', name]), ...withoutProjects(args)];
}

function withoutProjects(args) {
  return args.filter((arg, place) => !arg.startsWith('--project') && args[place - 1] !== '--project');
}
