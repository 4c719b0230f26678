const COPIES = Symbol.for('nestjs-distributed-lock:copies');

type Holder = typeof globalThis & { [COPIES]?: Set<string> };

/** The files that this module was loaded from. A test runner that loads one file again does not add a second copy. */
const files = ((globalThis as Holder)[COPIES] ??= new Set());

files.add(fileOfThis());

/** Returns the file name of this module. A bundle of ES modules may not have one. */
function fileOfThis(): string {
  try {
    return import.meta.filename ?? '(a bundle)';
  } catch {
    return '(a bundle)';
  }
}

/**
 * Returns what to do when several copies of the package are loaded, so that a class of one does not find the module of
 * another. `undefined` while there is only one copy.
 */
export function severalCopies(): string | undefined {
  if (files.size < 2) return undefined;
  return (
    `${files.size} copies of nestjs-distributed-lock are loaded (${[...files].join(', ')}), and the decorators of one ` +
    'do not find the LockModule of another. "npm ls nestjs-distributed-lock" shows what installs them; have one version ' +
    'in all packages and run "npm dedupe", so that one copy is left'
  );
}
