import { fileURLToPath } from 'node:url';
import ts from 'typescript-6';
import type { Mistakes } from './mistake.js';

const FOLDER = fileURLToPath(new URL('.', import.meta.url));

const IMPORTS = `
import { of } from 'rxjs';
import { CronLock, DistributedLock, LeaderOnly, LockModule, zookeeper } from '../../../lib/index.js';
`;

/** The code that the compiler refuses, by the name of the mistake. */
const SOURCES: Readonly<Record<string, string>> = {
  'sync-method': `class S { @DistributedLock('key') run(): number { return 1; } }`,
  'static-method': `class S { @DistributedLock('key') static async run() {} }`,
  'no-parentheses': `class S { @DistributedLock async run() {} }`,
  'wrong-parameter': `class S { @DistributedLock((id: number) => String(id)) async run(_id: string) {} }`,
  'optional-parameter': `class S { @DistributedLock((id: string) => id) async run(_id?: string) {} }`,
  'parameter-without-type': `class S { @DistributedLock((order) => order.id) async run(_order: { id: string }) {} }`,
  'skip-with-result': `class S { @DistributedLock('key', { onContention: 'skip' }) async run(): Promise<number> { return 1; } }`,
  'leader-only-with-result': `class S { @LeaderOnly('name') async run(): Promise<string> { return ''; } }`,
  'unknown-option': `LockModule.forRoot({ backend: zookeeper(), waitms: 5 });`,
};

const name = (mistake: string) => `${FOLDER}${mistake}.virtual.ts`;

function hostOf(options: ts.CompilerOptions): ts.CompilerHost {
  const host = ts.createCompilerHost(options);
  const virtual = new Map(Object.entries(SOURCES).map(([mistake, source]) => [name(mistake), source]));
  const { getSourceFile, fileExists } = host;
  host.fileExists = (file) => virtual.has(file) || fileExists.call(host, file);
  host.getSourceFile = (file, version, ...others) => {
    const source = virtual.get(file);
    if (source === undefined) return getSourceFile.call(host, file, version, ...others);
    return ts.createSourceFile(file, `${IMPORTS}${source}; void of;`, version);
  };
  return host;
}

/** Compiles all of them together, once: most of the time is needed for the library's own types. */
let program: ts.Program | undefined;

function compiled(): ts.Program {
  const options: ts.CompilerOptions = {
    target: ts.ScriptTarget.ES2023,
    lib: ['lib.es2023.d.ts', 'lib.esnext.disposable.d.ts'],
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    types: ['node'],
    strict: true,
    experimentalDecorators: true,
    emitDecoratorMetadata: true,
    skipLibCheck: true,
    noEmit: true,
  };
  return (program ??= ts.createProgram(Object.keys(SOURCES).map(name), options, hostOf(options)));
}

function complaintAbout(mistake: string): string {
  const file = compiled().getSourceFile(name(mistake));
  const found = compiled().getSemanticDiagnostics(file);
  return found.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n')).join('\n');
}

export const COMPILED: Mistakes = Object.fromEntries(
  Object.keys(SOURCES).map((mistake) => [mistake, () => complaintAbout(mistake)]),
);
