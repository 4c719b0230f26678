const STEPS = 20;

/** Returns a function that prints the progress of a run, every twentieth of it. */
export function progress(total: number): (done: number, what?: string) => void {
  const begun = Date.now();
  let shown = 0;
  return (done, what = '') => {
    const step = Math.floor((done / total) * STEPS);
    if (step <= shown) return;
    shown = step;
    console.log(`${Math.round((Date.now() - begun) / 1_000)} s: ${done} of ${total} ${what}`);
  };
}
