export const REPORT_JOB = 'report';

/**
 * Far shorter than the difference between the instances' clocks: by the time a late instance fires, the lock is free
 * again.
 */
export const REPORT_TAKES_MS = 20;

/** One line in the journal of reports. */
export interface ReportRun {
  readonly by: string;
  /** The second that the report covers, in milliseconds since 1970. */
  readonly tick: number;
}
