/** Short ways to write definitions and to run them, for tests. */
import type {
  Json,
  JsonObject,
  RunEvent,
  WorkflowDefinition,
  WorkflowEdge,
  WorkflowNode,
} from '@gantry/protocol';
import { compileSchema } from '../../../protocol/src/testing/json-schema.ts';
import {
  type Command,
  type CompileOptions,
  compile,
  type Decision,
  decide,
  newRun,
  type Plan,
  type Run,
  type RunFacts,
  type RunJson,
} from '../index.ts';

type NodeExtras = Partial<Omit<WorkflowNode, 'id' | 'typeId'>>;

export const node = (id: string, typeId = 'core.noop', extras: NodeExtras = {}): WorkflowNode => ({
  id,
  typeId,
  name: id,
  position: { x: 0, y: 0 },
  config: {},
  inputs: {},
  ...extras,
});

/** `edge('a>b')`: its id is the text itself. */
export function edge(text: string, extras: Partial<WorkflowEdge> = {}): WorkflowEdge {
  const [sourceNodeId = '', targetNodeId = ''] = text.split('>');
  return { id: text, sourceNodeId, targetNodeId, ...extras };
}

export const workflow = (
  nodes: WorkflowNode[],
  edges: (WorkflowEdge | string)[] = [],
  extras: Partial<WorkflowDefinition> = {},
): WorkflowDefinition => ({
  id: 'wf',
  name: 'wf',
  version: '1',
  nodes,
  edges: edges.map((item) => (typeof item === 'string' ? edge(item) : item)),
  triggers: [],
  variables: [],
  metadata: {},
  settings: {},
  ...extras,
});

export const facts = (extras: Partial<RunFacts> = {}): RunFacts => ({
  runId: 'run-1',
  workflowId: 'wf',
  workflowHash: 'hash',
  owner: { tenant: 't' },
  createdAt: 0,
  inputs: {},
  configurable: {},
  tags: [],
  metadata: {},
  limits: { maxNodeExecutions: 1_000, maxRunDurationMs: 3_600_000, maxLoopIterations: 100 },
  ...extras,
});

/** A run as it is stored. */
export const plain = (run: Run): RunJson => JSON.parse(JSON.stringify(run));

/** One run under test: keeps every event and checks nothing itself. */
export class Trial {
  readonly plan: Plan;
  readonly events: RunEvent[] = [];
  run: Run;
  now = 1_000;

  constructor(definition: WorkflowDefinition, extras: Partial<RunFacts> = {}, options: CompileOptions = {}) {
    this.plan = compile(definition, { sha256: (text) => `digest of ${text}`, compileSchema, ...options });
    this.run = newRun(facts(extras));
  }

  /** Starts and advances. */
  static begin(definition: WorkflowDefinition, extras: Partial<RunFacts> = {}): Trial {
    return new Trial(definition, extras).start().advance();
  }

  give(command: Command): Decision {
    const decision = decide(this.plan, this.run, command);
    this.events.push(...decision.events);
    this.run = decision.run;
    return decision;
  }

  start(): this {
    this.give({ type: 'start', now: this.now });
    return this;
  }

  advance(maxEvents = 10_000): this {
    this.give({ type: 'advance', now: this.now, maxEvents });
    return this;
  }

  wake(now: number): this {
    this.now = now;
    this.give({ type: 'wake', now, maxEvents: 10_000 });
    return this;
  }

  succeed(nodeId: string, outputs: JsonObject = {}): this {
    return this.settle(nodeId, { ok: true, outputs });
  }

  fail(nodeId: string, code = 'broken', retryable = false): this {
    return this.settle(nodeId, { ok: false, error: { code, message: code }, retryable });
  }

  settle(nodeId: string, outcome: Extract<Command, { type: 'settle' }>['outcome']): this {
    const state = this.run.nodes.get(nodeId);
    const attempt = state?.status === 'running' ? state.attempt : 0;
    this.give({
      type: 'settle',
      now: this.now,
      nodeId,
      attempt,
      visit: this.run.visits.get(nodeId) ?? 1,
      outcome,
    });
    return this.advance();
  }

  status(nodeId: string): string {
    return this.run.nodes.get(nodeId)?.status ?? 'pending';
  }

  outputs(nodeId: string): JsonObject | undefined {
    const state = this.run.nodes.get(nodeId);
    return state?.status === 'completed' ? state.outputs : undefined;
  }

  /** The log as `type nodeId`. */
  log(): string[] {
    return this.events.map((event) => (event.nodeId ? `${event.type} ${event.nodeId}` : event.type));
  }

  payload(type: string, nth = 0): JsonObject {
    return this.events.filter((event) => event.type === type)[nth]?.payload ?? {};
  }
}

export const effect = (id: string, extras: NodeExtras = {}): WorkflowNode =>
  node(id, 'core.conformance.side-effect', extras);

export const fixed = (value: Json): { type: 'static'; value: Json } => ({ type: 'static', value });
export const formula = (expression: string): { type: 'expression'; expression: string } => ({
  type: 'expression',
  expression,
});
