/** What the names below a double barrier tell. */

/** The znode that is there while the members are in. */
export const READY = 'ready';

// A UUID, with dashes as Curator and this package write it or without as kazoo does.
const MEMBER = /^[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}$/;

/** The members among the children of a double barrier, in the order of their names, which all see alike. */
export function membersIn(names: readonly string[]): string[] {
  return names.filter((name) => MEMBER.test(name)).sort();
}
