import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A program that can run contenders, in the language of these. */
export type ProgramName = 'node' | 'java' | 'python';

/** How many times the usual warm-up each contender needs in a new process, until its machine has compiled what runs often. */
export const BREAK_IN: Readonly<Record<ProgramName, number>> = { node: 5, java: 5, python: 0.1 };

export interface Program {
  readonly argv: readonly [string, ...string[]];
}

const JAVA_DIR = '/usr/share/java';
const JARS = ['curator-recipes', 'jackson-databind', 'slf4j-nop'].map((name) => `${JAVA_DIR}/${name}.jar`);
const PYTHON = '/usr/bin/python3';

const fromHere = (path: string) => fileURLToPath(new URL(path, import.meta.url));
/** This file runs from build/bench/js/bench/crew. */
const REPOSITORY = fromHere('../../../../../');
export const JAVA_CLASSES = `${REPOSITORY}build/bench/java`;

/** How each is started. @throws Error that says what to install */
export const PROGRAMS: Readonly<Record<ProgramName, () => Program>> = {
  node: () => ({ argv: [process.execPath, '--expose-gc', fromHere('../contenders/node/worker.js')] }),
  java: () => {
    must(JARS[0]!, 'libcurator-recipes-java');
    must(`${JAVA_CLASSES}/Worker.class`, 'default-jdk-headless');
    // A heap as small as that of the other programs: otherwise sixteen of them are more than a small machine has.
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
