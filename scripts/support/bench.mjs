import { mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { must, ROOT } from './command.mjs';

const at = (path) => fileURLToPath(new URL(path, ROOT));
const TSC = at('node_modules/typescript/bin/tsc');
const JARS = ['curator-recipes', 'jackson-databind'].map((name) => `/usr/share/java/${name}.jar`);
const JAVA_SOURCES = 'bench/contenders/java/';
const JAVA_CLASSES = 'build/bench/java';

/** Compiles the bench: a process of its own needs JavaScript, and never that of an older build. */
export async function compileBench() {
  await must('compile the bench', [process.execPath, TSC, '-p', 'bench/tsconfig.json']);
  // Compiled files look for the packages of the contenders above themselves.
  const link = at('build/bench/js/bench/node_modules');
  rmSync(link, { force: true });
  symlinkSync(at('bench/node_modules'), link);
}

/** Compiles the program that calls Curator's locks. @throws Error that says what to install */
export async function compileJava() {
  const sources = readdirSync(at(JAVA_SOURCES)).map((name) => JAVA_SOURCES + name);
  mkdirSync(at(JAVA_CLASSES), { recursive: true });
  const compile = ['javac', '-d', JAVA_CLASSES, '-cp', JARS.join(':'), ...sources];
  try {
    await must("compile what calls Curator's locks", compile);
  } catch (cause) {
    throw new Error(`${cause.message} (apt-get install default-jdk-headless libcurator-recipes-java)`, { cause });
  }
}
