import { beforeEach, describe, expect, it, vi } from 'vitest';
import { SessionNodes } from '../../../../lib/zookeeper/session/heartbeat.js';

describe('the znodes of a session', () => {
  let nodes: SessionNodes;
  const node = (path: string) => ({ path, czxid: 7n, sharesItsName: false, foundGone: vi.fn<() => void>() });
  const track = (...paths: string[]) =>
    paths.map((path) => {
      const own = node(path);
      return { own, tracked: nodes.join(own) };
    });
  const taken = (count: number) => nodes.rotate(count).map(({ member }) => member.path);

  beforeEach(() => {
    nodes = new SessionNodes();
  });

  it('are none at first', () => {
    expect(taken(10)).toEqual([]);
  });

  it('are returned as they were added', () => {
    const own = node('/a');
    nodes.join(own);
    expect(nodes.rotate(1)[0]?.member).toBe(own);
  });

  it('are taken in turn, so that each is checked when there are more than the limit', () => {
    track('/a', '/b', '/c');
    expect([taken(2), taken(2), taken(2)]).toEqual([
      ['/a', '/b'],
      ['/c', '/a'],
      ['/b', '/c'],
    ]);
  });

  it('are taken once each when there are fewer than requested', () => {
    track('/a', '/b');
    expect(taken(5)).toEqual(['/a', '/b']);
  });

  it('are not taken after they were removed', () => {
    const [first] = track('/a', '/b');
    first?.tracked.leave();
    first?.tracked.leave();
    expect(taken(5)).toEqual(['/b']);
  });

  it('report a missing znode once, to its owner only', () => {
    const [first, second] = [node('/a'), node('/b')];
    nodes.join(first);
    nodes.join(second);
    const [place] = placesOf(nodes, 2);
    nodes.gone(place);
    nodes.gone(place);
    expect(first.foundGone).toHaveBeenCalledOnce();
    expect(second.foundGone).not.toHaveBeenCalled();
    expect(taken(5)).toEqual(['/b']);
  });

  it('do not notify a removed owner', () => {
    const own = node('/a');
    const tracked = nodes.join(own);
    const [place] = placesOf(nodes, 1);
    tracked.leave();
    nodes.gone(place);
    expect(own.foundGone).not.toHaveBeenCalled();
  });

  it('may share a path: each is notified and removed separately', () => {
    const [old, young] = [node('/single'), node('/single')];
    const tracked = nodes.join(old);
    nodes.join(young);
    tracked.leave();
    const [place] = placesOf(nodes, 1);
    nodes.gone(place);
    expect(old.foundGone).not.toHaveBeenCalled();
    expect(young.foundGone).toHaveBeenCalledOnce();
  });
});

type NodePaths = ReturnType<SessionNodes['rotate']>;

function placesOf(nodes: SessionNodes, count: number): [NodePaths[number], ...NodePaths] {
  return nodes.rotate(count) as [NodePaths[number], ...NodePaths];
}
