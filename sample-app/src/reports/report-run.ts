export const REPORT_JOB = 'report';

/** Far shorter than the instances' clocks are apart: whoever fires late finds the lock free again. */
export const REPORT_TAKES_MS = 20;

/** One line in the journal of reports made. */
export interface ReportRun {
  readonly by: string;
  /** The second that the report is about, in milliseconds since 1970. */
  readonly tick: number;
}
