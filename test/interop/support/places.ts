import { existsSync } from 'node:fs';
import { sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const own = fileURLToPath(import.meta.url);
const compiled = `${sep}build${sep}interop${sep}js${sep}`;
const above = own.includes(compiled) ? '../../../../../../' : '../../../';

/** The root of the repository, for the sources and for their compiled form. */
export const ROOT = fileURLToPath(new URL(above, import.meta.url));

export const JAVA_SOURCES = `${ROOT}test/interop/java/interop`;
export const JAVA_CLASSES = `${ROOT}build/interop/java`;
export const PYTHON_SOURCES = `${ROOT}test/interop/python`;
export const NODE_PROGRAMS = `${ROOT}build/interop/js/test/interop/programs`;

/** The jars of Debian's packages. Each names its own dependencies in its manifest. */
export const JARS = ['curator-recipes', 'jackson-databind', 'slf4j-nop'].map((name) => `/usr/share/java/${name}.jar`);

/** @throws Error that says what to install */
export function must(file: string, debianPackage: string): void {
  if (!existsSync(file)) throw new Error(`${file} is not there: apt-get install ${debianPackage}`);
}
