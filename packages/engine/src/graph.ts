/** The shape of a workflow: back-edges, the depth of each node, and the nodes of each loop. */

export interface GraphEdge {
  readonly source: number;
  readonly target: number;
}

export interface GraphLoop {
  readonly head: number;
  readonly body: ReadonlySet<number>;
}

export interface Graph {
  /** For each edge, whether it is a back-edge of the depth-first walk. */
  readonly isBack: readonly boolean[];
  /** For each node, the length of the longest path to it. */
  readonly depth: readonly number[];
  readonly loops: readonly GraphLoop[];
}

export function analyse(nodeCount: number, edges: readonly GraphEdge[]): Graph {
  const outgoing = indexBy(nodeCount, edges, (edge) => edge.source);
  const isBack = findBackEdges(nodeCount, edges, outgoing);
  return {
    isBack,
    depth: depths(nodeCount, edges, outgoing, isBack),
    loops: findLoops(nodeCount, edges, outgoing, isBack),
  };
}

function indexBy(count: number, edges: readonly GraphEdge[], key: (edge: GraphEdge) => number): number[][] {
  const lists: number[][] = Array.from({ length: count }, () => []);
  edges.forEach((edge, index) => {
    lists[key(edge)]!.push(index);
  });
  return lists;
}

/** Walks depth first from the roots in listed order, then from unreached nodes in listed order. */
function findBackEdges(count: number, edges: readonly GraphEdge[], outgoing: number[][]): boolean[] {
  const isBack = edges.map(() => false);
  const isRoot = Array.from({ length: count }, () => true);
  for (const edge of edges) isRoot[edge.target] = false;
  const state = new Uint8Array(count);
  const walk = (start: number): void => {
    const stack = [{ node: start, next: 0 }];
    state[start] = OPEN;
    for (let top = stack.at(-1); top; top = stack.at(-1)) {
      const edge = outgoing[top.node]![top.next++];
      if (edge === undefined) {
        state[top.node] = DONE;
        stack.pop();
        continue;
      }
      const { target } = edges[edge]!;
      if (state[target] === OPEN) isBack[edge] = true;
      else if (state[target] !== DONE) {
        state[target] = OPEN;
        stack.push({ node: target, next: 0 });
      }
    }
  };
  for (let node = 0; node < count; node++) if (isRoot[node]) walk(node);
  for (let node = 0; node < count; node++) if (state[node] !== DONE) walk(node);
  return isBack;
}

const OPEN = 1;
const DONE = 2;

function depths(
  count: number,
  edges: readonly GraphEdge[],
  outgoing: number[][],
  isBack: readonly boolean[],
): number[] {
  const depth = new Array<number>(count).fill(0);
  const waiting = new Array<number>(count).fill(0);
  edges.forEach((edge, index) => {
    if (!isBack[index]) waiting[edge.target]!++;
  });
  const queue = waiting.flatMap((edgesLeft, node) => (edgesLeft === 0 ? [node] : []));
  for (let i = 0; i < queue.length; i++) {
    const node = queue[i]!;
    for (const index of outgoing[node]!) {
      if (isBack[index]) continue;
      const { target } = edges[index]!;
      depth[target] = Math.max(depth[target]!, depth[node]! + 1);
      if (--waiting[target]! === 0) queue.push(target);
    }
  }
  return depth;
}

/**
 * A loop is its head and every node on a path from the head back to it. All back-edges to one head form one
 * loop; an inner loop is part of it.
 */
function findLoops(
  count: number,
  edges: readonly GraphEdge[],
  outgoing: number[][],
  isBack: readonly boolean[],
): GraphLoop[] {
  const sources = new Map<number, number[]>();
  edges.forEach((edge, index) => {
    if (isBack[index]) sources.set(edge.target, [...(sources.get(edge.target) ?? []), edge.source]);
  });
  if (sources.size === 0) return [];
  const incoming = indexBy(count, edges, (edge) => edge.target);
  return [...sources].map(([head, ends]) => {
    const below = reach([head], (node) =>
      outgoing[node]!.filter((index) => !isBack[index]).map((index) => edges[index]!.target),
    );
    const body = reach(ends, (node) =>
      node === head
        ? []
        : incoming[node]!.map((index) => edges[index]!.source).filter((source) => below.has(source)),
    );
    return { head, body: body.add(head) };
  });
}

function reach(starts: readonly number[], next: (node: number) => number[]): Set<number> {
  const seen = new Set(starts);
  for (const node of seen) for (const neighbour of next(node)) seen.add(neighbour);
  return seen;
}
