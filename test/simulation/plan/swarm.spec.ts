import { describe, expect, it } from 'vitest';
import { drawPlan } from './draw-plan.js';

const SECONDS = 300;
const plans = Array.from({ length: 400 }, (_, at) => drawPlan(at + 1, SECONDS));

const setBack = plans.flatMap(({ faults, world }) =>
  faults
    .filter(({ kind, ms = 0 }) => kind === 'wall-jump' && ms < 0)
    .map((jump) => ({ jump, sleeps: faults.filter(({ kind, app }) => kind === 'suspend' && app === jump.app), world })),
);

describe('a plan', () => {
  it("sets no wall clock back during its machine's sleep or within three session timeouts", () => {
    const wrong = setBack.filter(({ jump, sleeps, world }) =>
      sleeps.some(
        ({ atMs, forMs }) =>
          jump.atMs > atMs - 3 * world.sessionTimeoutMs && jump.atMs < atMs + forMs + 3 * world.sessionTimeoutMs,
      ),
    );
    expect(wrong).toEqual([]);
  });

  it('sets wall clocks back otherwise, even on machines that sleep at other times', () => {
    expect(setBack.length).toBeGreaterThan(100);
    expect(setBack.filter(({ sleeps }) => sleeps.length > 0).length).toBeGreaterThan(20);
  });

  it('isolates no server that the end of all faults would free early', () => {
    const isolations = plans.flatMap(({ faults }) => faults.filter(({ kind }) => ['freeze', 'cut-off'].includes(kind)));
    expect(isolations.length).toBeGreaterThan(100);
    expect(isolations.filter(({ atMs, forMs }) => atMs + forMs >= SECONDS * 1_000)).toEqual([]);
  });

  it('gives many clients longer pauses than few', () => {
    const rests = (isMany: boolean) =>
      plans
        .filter(({ world, traffic }) => (world.apps >= 4 && Object.keys(traffic.programs).length >= 3) === isMany)
        .map(({ traffic }) => traffic.pauseMs[1]);
    const mean = (list: readonly number[]) => list.reduce((sum, one) => sum + one, 0) / list.length;
    expect(mean(rests(true))).toBeGreaterThan(1.5 * mean(rests(false)));
  });
});
