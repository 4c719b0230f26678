import { existsSync } from 'node:fs';
import { sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const own = fileURLToPath(import.meta.url);
const compiled = `${sep}build${sep}interop${sep}js${sep}`;
const above = own.includes(compiled) ? '../../../../../../' : '../../../';

/** The repository, whether this runs as it is written or compiled. */
export const ROOT = fileURLToPath(new URL(above, import.meta.url));

export const JAVA_SOURCES = `${ROOT}test/interop/java/interop`;
export const JAVA_CLASSES = `${ROOT}build/interop/java`;
export const PYTHON_SOURCES = `${ROOT}test/interop/python`;
export const NODE_PROGRAMS = `${ROOT}build/interop/js/test/interop/programs`;

/** What Debian's packages bring; each names in its manifest what it needs itself. */
export const JARS = ['curator-recipes', 'jackson-databind', 'slf4j-nop'].map((name) => `/usr/share/java/${name}.jar`);

/** @throws Error that says what to install */
export function must(file: string, debianPackage: string): void {
  if (!existsSync(file)) throw new Error(`${file} is not there: apt-get install ${debianPackage}`);
}
