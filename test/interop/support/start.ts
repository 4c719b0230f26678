import { ForeignProcess } from './foreign-process.js';
import { JARS, JAVA_CLASSES, must, NODE_PROGRAMS, PYTHON_SOURCES } from './places.js';

// The options for the fastest start: these programs live for seconds, many at a time.
const JAVA = ['java', '-Xmx96m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'] as const;
const PYTHON = '/usr/bin/python3';

/** Starts a class of test/interop/java/interop that has a `main`. @throws Error that says what to install */
export function startJava(mainClass: string, args: readonly string[] = []): ForeignProcess {
  must(JARS[0]!, 'libcurator-recipes-java');
  must(`${JAVA_CLASSES}/interop/${mainClass}.class`, 'default-jdk-headless');
  const classPath = [JAVA_CLASSES, ...JARS].join(':');
  return new ForeignProcess(`java ${mainClass}`, [...JAVA, '-cp', classPath, `interop.${mainClass}`, ...args]);
}

/** Starts a script of test/interop/python, without `.py`. @throws Error that says what to install */
export function startPython(script: string, args: readonly string[] = []): ForeignProcess {
  must('/usr/lib/python3/dist-packages/kazoo', 'python3-kazoo');
  return new ForeignProcess(`python ${script}`, [PYTHON, '-uB', `${PYTHON_SOURCES}/${script}.py`, ...args]);
}

/** Starts test/interop/programs/<name>.program.ts: this library in a process of its own, which can be killed. */
export function startNode(program: string, args: readonly string[] = []): ForeignProcess {
  return new ForeignProcess(`node ${program}`, [process.execPath, `${NODE_PROGRAMS}/${program}.program.js`, ...args]);
}
