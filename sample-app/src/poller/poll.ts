/** How long the poller takes to fetch one message and to note that it has. */
export const POLL_TAKES_MS = 10;
export const POLL_EVERY_MS = 20;

/** The journal of messages fetched. Where it ends is where the next poller goes on. */
export const POLLS = 'polls';

/** One line of it. */
export interface Poll {
  readonly by: string;
  readonly message: number;
}
