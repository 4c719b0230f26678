import type { OutOfReach } from './defect.js';

/** Faults fixed at the same time that leave no trace in a history of a simulation. */
export const OUT_OF_REACH: readonly OutOfReach[] = [
  { fault: 'a chroot before the last server was accepted', reason: 'Options are checked before anything is sent.' },
  { fault: 'a decorator without parentheses ran unlocked', reason: 'It shows when the class is loaded.' },
  { fault: 'fixed keys were refused at the first call', reason: 'It shows when the class is loaded.' },
  { fault: 'keys with missing values were not warned about', reason: 'Keys are checked before anything is sent.' },
  { fault: 'absolute keys that read like contenders were taken', reason: 'Keys are checked before anything is sent.' },
  { fault: 'the key of a job’s lock could be taken by its path', reason: 'Keys are checked before anything is sent.' },
  { fault: 'a job with too long a key was not refused', reason: 'Names are checked before anything is sent.' },
  { fault: 'using() without work took the lock first', reason: 'The compiler refuses such a call.' },
  { fault: 'TLS material was checked while connecting', reason: 'The network of the simulation has no TLS.' },
  { fault: 'a ca without a certificate was ignored', reason: 'The network of the simulation has no TLS.' },
  { fault: 'the embedded server’s zxids had 61 bits', reason: 'It is the server, which the simulation stands on.' },
  { fault: 'the embedded server refused null ids', reason: 'It is the server, which the simulation stands on.' },
  { fault: 'contenders() hid the holder', reason: 'What is shown to people is not part of the history.' },
  { fault: 'segments blocked Curator’s mutex', reason: 'No Curator takes part.' },
  { fault: 'keys below an ephemeral znode were told to be out of reach', reason: 'It is the class of an error.' },
];

/**
 * Defects that are planted for other tests. A history of a simulation cannot show them, or its traffic does not reach
 * them.
 */
export const INVISIBLE: Readonly<Record<string, string>> = {
  'late-caller-is-not-told-of-the-loss':
    'Every lease is asked once more whether it stands before a caller has it, and finds out by itself.',
  'entry-delay-forgets-the-others':
    'Each one that leaves lets in the next one that was held back: callers come in later, and are never stuck.',
  'number-of-permits-is-written-over-anything': 'It takes a configuration that is refused; no program has one.',
  'forgets-the-job-of-another-service': 'No program forgets runs of jobs.',
  'longer-timeout-counts-at-once':
    'A client asks for the session timeout that it was granted last. Only a server with a larger minimum grants a longer one, and ' +
    'the servers of a simulation have one minimum.',
  'fast-path-outlives-the-connection':
    'Watches are set again right behind the handshake. So the event of a directory that was made anew comes before the answer to ' +
    'any create of that connection, and ends what was known.',
  'lease-of-an-ended-session-is-handed-out':
    'Between the last look at the session and the caller there are promise jobs only, and a session ends in a callback of a socket ' +
    'or a timer. Only a goodbye ends it in a promise job, and nobody waits for a turn by then.',
};
