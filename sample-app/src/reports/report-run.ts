export const REPORT_JOB = 'report';

/** Longer than the instances' clocks are apart: whoever fires late finds the job still running. */
export const REPORT_TAKES_MS = 700;

/** One line in the journal of reports made. */
export interface ReportRun {
  readonly by: string;
  readonly from: number;
  readonly to: number;
}
