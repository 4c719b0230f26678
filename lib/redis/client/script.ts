import { createHash } from 'node:crypto';

/** A Lua script. Servers keep it by its hash, so only its first run sends the text. */
export class Script {
  readonly sha: string;

  /** @param name name of the script, for messages */
  constructor(
    readonly name: string,
    readonly text: string,
  ) {
    this.sha = createHash('sha1').update(text).digest('hex');
  }
}

/** A value that is sent to a script. */
export type ScriptValue = string | number | Buffer;

/** One run of a script. */
export interface ScriptCall {
  readonly script: Script;
  /** All keys that the script uses. All of them have one hash tag. */
  readonly keys: readonly string[];
  readonly values: readonly ScriptValue[];
  /** Whether texts in the reply are bytes. Default: text. */
  readonly inBytes?: boolean;
  /** Aborts when the caller has given up: what undoes the run may have been sent since. */
  readonly signal?: AbortSignal;
}

/** Returns a truth value as scripts take it. */
export function flag(isSo: boolean): string {
  return isSo ? '1' : '0';
}
