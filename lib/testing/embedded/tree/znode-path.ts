const FORBIDDEN = /[\u0000-\u001f\u007f-\u009f\ud800-\uf8ff\ufff0-\uffff]/;

export const ROOT = '/';

/** Whether a znode may have this path: what the server itself checks before a write. */
export function isValidPath(path: string): boolean {
  if (!path.startsWith('/') || FORBIDDEN.test(path)) return false;
  if (path === ROOT) return true;
  return path
    .slice(1)
    .split('/')
    .every((part) => part !== '' && part !== '.' && part !== '..');
}

/** Everything before the last slash: '' of '/a'. The root answers to '' as well as to '/'. */
export function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** The path under which the watches of a parent are kept. */
export function watchedParentOf(path: string): string {
  return parentOf(path) || ROOT;
}

/** The path itself and everything above it, up to the root. */
export function* selfAndAncestors(path: string): Generator<string> {
  yield path;
  for (let at = path; at !== ROOT && at !== '';) {
    at = watchedParentOf(at);
    yield at;
  }
}
