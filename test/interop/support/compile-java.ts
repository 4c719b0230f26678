import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { JARS, JAVA_CLASSES, JAVA_SOURCES, must } from './places.js';

const STAMP = `${JAVA_CLASSES}/sources.txt`;

/**
 * Compiles the programs that call Curator's recipes, unless they are compiled. @throws Error that says what to install
 */
export default async function compileJava(): Promise<void> {
  const sources = readdirSync(JAVA_SOURCES).map((name) => `${JAVA_SOURCES}/${name}`);
  const state = sources.map((path) => `${path} ${statSync(path).mtimeMs}`).join('\n');
  if (state === stamped()) return;
  JARS.forEach((jar) => must(jar, 'libcurator-recipes-java'));
  rmSync(JAVA_CLASSES, { recursive: true, force: true });
  mkdirSync(JAVA_CLASSES, { recursive: true });
  const argv = ['-Xlint:all,-path,-classfile,-processing', '-Werror', '-d', JAVA_CLASSES, '-cp', JARS.join(':')];
  await promisify(execFile)('javac', [...argv, ...sources]).catch((cause: NodeJS.ErrnoException) => {
    const why = cause.code === 'ENOENT' ? 'javac is not there: apt-get install default-jdk-headless' : cause.message;
    throw new Error(why, { cause });
  });
  writeFileSync(STAMP, state);
}

function stamped(): string | undefined {
  try {
    return readFileSync(STAMP, 'utf8');
  } catch {
    return undefined;
  }
}
