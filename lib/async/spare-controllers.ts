/**
 * Controllers of what is over, for what comes next: on Node 20 to make a signal costs a process more than anything else
 * that an acquisition does, and its collector as well.
 */
import { OwnAbortController } from './abort.js';

const MOST = 1_000;

const spares: OwnAbortController[] = [];

/** A controller that has not aborted, and that nobody listens to. */
export function takeController(): OwnAbortController {
  return spares.pop() ?? new OwnAbortController();
}

/** Only by whoever knows that nobody goes on with its signal. One that has aborted, or is listened to, serves nobody else. */
export function putBack(controller: OwnAbortController): void {
  if (spares.length < MOST && controller.isIdle) spares.push(controller);
}
