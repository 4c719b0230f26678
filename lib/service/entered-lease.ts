import { LeaseView } from '../contract/lease-view.js';

/** A lease as a nested call sees it: the outer call's in everything, but not its to give back. */
export class EnteredLease extends LeaseView {
  async release(): Promise<void> {}
}
