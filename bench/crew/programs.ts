import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A program that can run contenders, in their language. */
export type ProgramName = 'node' | 'java' | 'python';

/**
 * The warm-up of a contender in a new process, as a multiple of the usual one. By then its machine has compiled the hot
 * code.
 */
export const BREAK_IN: Readonly<Record<ProgramName, number>> = { node: 5, java: 5, python: 0.1 };

export interface Program {
  readonly argv: readonly [string, ...string[]];
  /** Environment variables beside those of this process. */
  readonly env?: Readonly<Record<string, string>>;
}

const JAVA_DIR = '/usr/share/java';
const JARS = ['curator-recipes', 'jackson-databind', 'slf4j-nop'].map((name) => `${JAVA_DIR}/${name}.jar`);
const PYTHON = '/usr/bin/python3';

const fromHere = (path: string) => fileURLToPath(new URL(path, import.meta.url));
/** The root of the repository. This file runs from build/bench/js/bench/crew. */
const REPOSITORY = fromHere('../../../../../');
export const JAVA_CLASSES = `${REPOSITORY}build/bench/java`;

/** The command that starts each program. @throws Error that says what to install */
export const PROGRAMS: Readonly<Record<ProgramName, () => Program>> = {
  node: () => ({ argv: [process.execPath, '--expose-gc', fromHere('../contenders/node/worker.js')] }),
  java: () => {
    must(JARS[0]!, 'libcurator-recipes-java');
    must(`${JAVA_CLASSES}/Worker.class`, 'default-jdk-headless');
    // The heap is as small as that of the other programs: sixteen larger ones would not fit on a small machine.
    return { argv: ['java', '-Xmx64m', '-cp', [JAVA_CLASSES, ...JARS].join(':'), 'Worker'] };
  },
  python: () => {
    must('/usr/lib/python3/dist-packages/kazoo', 'python3-kazoo');
    return { argv: [PYTHON, '-uB', `${REPOSITORY}bench/contenders/python/worker.py`] };
  },
};

function must(file: string, debianPackage: string): void {
  if (!existsSync(file)) throw new Error(`${file} is not there: apt-get install ${debianPackage}`);
}
