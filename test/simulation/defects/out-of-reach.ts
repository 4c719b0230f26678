import type { OutOfReach } from './defect.js';

/** Faults mended at the same time that leave no trace in a history of a simulation. */
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

/** Defects that are planted for other tests: a history of a simulation cannot show them, or its traffic does not get there. */
export const INVISIBLE: Readonly<Record<string, string>> = {
  'late-caller-is-not-told-of-the-loss':
    'Every lease is asked once more whether it stands before a caller has it, and finds out by itself.',
  'entry-delay-forgets-the-others':
    'Whoever leaves lets in the next one that was held back: callers come in later, and are never stuck.',
  'number-of-permits-is-written-over-anything': 'It takes a configuration that is refused; no program has one.',
  'forgets-the-job-of-another-service': 'No program forgets runs of jobs.',
};
