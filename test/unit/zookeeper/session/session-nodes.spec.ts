import { beforeEach, describe, expect, it, vi } from 'vitest';
import { SessionNodes } from '../../../../lib/zookeeper/session/session-nodes.js';

describe('the znodes of a session', () => {
  let nodes: SessionNodes;
  const attend = (...paths: string[]) => paths.map((path) => nodes.attend(path, () => {}));

  beforeEach(() => {
    nodes = new SessionNodes();
  });

  it('are none at first', () => {
    expect(nodes.take(10)).toEqual([]);
  });

  it('are taken in turn, so that each comes up when there are more than are taken at a time', () => {
    attend('/a', '/b', '/c');
    expect([nodes.take(2), nodes.take(2), nodes.take(2)]).toEqual([
      ['/a', '/b'],
      ['/c', '/a'],
      ['/b', '/c'],
    ]);
  });

  it('are taken once each when fewer stand than are asked for', () => {
    attend('/a', '/b');
    expect(nodes.take(5)).toEqual(['/a', '/b']);
  });

  it('are taken no more when they are not attended any more', () => {
    const [letGo] = attend('/a', '/b');
    letGo?.();
    letGo?.();
    expect(nodes.take(5)).toEqual(['/b']);
  });

  it('tell when one is gone, once, and only whom it concerns', () => {
    const [first, second] = [vi.fn<() => void>(), vi.fn<() => void>()];
    nodes.attend('/a', first);
    nodes.attend('/b', second);
    nodes.gone('/a');
    nodes.gone('/a');
    expect(first).toHaveBeenCalledOnce();
    expect(second).not.toHaveBeenCalled();
    expect(nodes.take(5)).toEqual(['/b']);
  });

  it('still tell after they were taken', () => {
    const onGone = vi.fn<() => void>();
    nodes.attend('/a', onGone);
    nodes.take(1);
    nodes.gone('/a');
    expect(onGone).toHaveBeenCalledOnce();
  });

  it('tell nobody who has let go', () => {
    const onGone = vi.fn<() => void>();
    nodes.attend('/a', onGone)();
    nodes.gone('/a');
    expect(onGone).not.toHaveBeenCalled();
  });

  it('take no notice of a znode that nobody attends', () => {
    expect(() => nodes.gone('/unknown')).not.toThrow();
  });

  it('stay attended by the next owner of a path when the last one lets go late', () => {
    const onGone = vi.fn<() => void>();
    const letGo = nodes.attend('/single', () => {});
    nodes.attend('/single', onGone);
    letGo();
    nodes.gone('/single');
    expect(onGone).toHaveBeenCalledOnce();
  });
});
