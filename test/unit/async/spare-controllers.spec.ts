import { describe, expect, it } from 'vitest';
import { onAbort, putBack, takeController } from '../../../lib/async/abort.js';

describe('a controller that is put back', () => {
  it('is reused', () => {
    const controller = takeController();
    putBack(controller);
    expect(takeController()).toBe(controller);
    expect(takeController()).not.toBe(controller);
  });

  it('is reused when its listeners have been removed', () => {
    const controller = takeController();
    onAbort(controller.signal, () => {})();
    putBack(controller);
    expect(takeController()).toBe(controller);
  });

  it('is not reused once it has aborted', () => {
    const controller = takeController();
    controller.abort();
    putBack(controller);
    expect(takeController()).not.toBe(controller);
  });

  it.each<[string, (signal: AbortSignal) => void]>([
    ['of this package', (signal) => void onAbort(signal, () => {})],
    ['of somebody else', (signal) => signal.addEventListener('abort', () => {})],
  ])('is not reused while a listener %s is left', (_whose, listen) => {
    const controller = takeController();
    listen(controller.signal);
    putBack(controller);
    expect(takeController()).not.toBe(controller);
  });
});
