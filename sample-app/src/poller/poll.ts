/** How long the poller takes to fetch one message and to note that it has. */
export const POLL_TAKES_MS = 10;
export const POLL_EVERY_MS = 20;

/** Where the poller is: the number of the next message. */
export const CURSOR = 'poller/cursor';
export const POLLS = 'poller/polls';

/** One line in the journal of messages fetched. */
export interface Poll {
  readonly by: string;
  readonly message: number;
}
