/** What a backend is asked by key. */
export interface KeyedRequest {
  readonly key: string;
  /** The key as the application wrote it: a service's own keys are more than that. Default: `key`. */
  readonly name?: string | undefined;
}

/** What leases and errors call the key. */
export function nameOf({ key, name = key }: KeyedRequest): string {
  return name;
}
