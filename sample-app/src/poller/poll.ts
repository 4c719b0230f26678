/** The time that the poller needs to fetch one message and to record it. */
export const POLL_TAKES_MS = 10;
export const POLL_EVERY_MS = 20;

/** The journal of fetched messages. The next poller continues at its end. */
export const POLLS = 'polls';

/** One line of the journal. */
export interface Poll {
  readonly by: string;
  readonly message: number;
}
