/** Random workflows, and the order in which their work is settled. */
import type { TriggerRule, WorkflowDefinition, WorkflowEdge } from '@gantry/protocol';
import fc from 'fast-check';
import { executions, isReady } from '../index.ts';
import { edge, effect, node, Trial, workflow } from './workflow.ts';

const RULES: TriggerRule[] = ['all_success', 'any_success', 'all_complete', 'none_failed', 'any_failed'];

export interface Shape {
  readonly size: number;
  readonly edges: { from: number; to: number; rule: number; conditional: boolean }[];
  readonly outside: boolean[];
  readonly disabled: boolean[];
  readonly fails: boolean[];
}

export const shapes = (loops: boolean): fc.Arbitrary<Shape> =>
  fc.integer({ min: 1, max: 9 }).chain((size) => {
    const flags = fc.array(fc.boolean(), { minLength: size, maxLength: size });
    const place = fc.nat(size - 1);
    return fc.record({
      size: fc.constant(size),
      edges: fc
        .array(fc.record({ from: place, to: place, rule: fc.nat(4), conditional: fc.boolean() }), {
          maxLength: 18,
        })
        .map((edges) => (loops ? edges : edges.filter(({ from, to }) => from < to))),
      outside: flags,
      disabled: fc.array(
        fc.integer({ min: 0, max: 5 }).map((die) => die === 0),
        { minLength: size, maxLength: size },
      ),
      fails: fc.array(
        fc.integer({ min: 0, max: 3 }).map((die) => die === 0),
        { minLength: size, maxLength: size },
      ),
    });
  });

export function definitionOf(shape: Shape): WorkflowDefinition {
  const ids = Array.from({ length: shape.size }, (_, index) => `n${index}`);
  const edges: WorkflowEdge[] = shape.edges.map(({ from, to, rule, conditional }, index) =>
    edge(`n${from}>n${to}`, {
      id: `e${index}`,
      triggerRule: RULES[rule]!,
      ...(conditional && { condition: { type: 'equals', left: 'output.even', right: true } }),
    }),
  );
  // Every failure is handled, so that the end does not depend on which failure comes first.
  const handler = ids.map((id) => edge(`${id}>handler`, { id: `h${id}`, triggerRule: 'all_complete' }));
  const nodes = ids.map((id, index) => {
    const disabled = shape.disabled[index]!;
    return shape.outside[index] ? effect(id, { disabled }) : node(id, 'core.noop', { disabled });
  });
  return workflow([...nodes, node('handler')], [...edges, ...handler]);
}

/** Settles work in the order that `picks` says, until the run is over. */
export function play(shape: Shape, picks: readonly number[], maxEvents: number): Trial {
  const trial = new Trial(definitionOf(shape)).start();
  for (let turn = 0; turn < 500 && trial.run.status === 'running'; turn++) {
    while (isReady(trial.plan, trial.run)) trial.advance(maxEvents);
    const open = executions(trial.plan, trial.run);
    if (open.length === 0) break;
    const { nodeId, attempt, visit } = open[picks[turn % picks.length]! % open.length]!;
    const index = Number(nodeId.slice(1));
    const outcome = shape.fails[index]
      ? ({ ok: false, error: { code: 'x', message: 'x' }, retryable: false } as const)
      : ({ ok: true, outputs: { even: (index + visit) % 2 === 0 } } as const);
    trial.give({ type: 'settle', now: trial.now, nodeId, attempt, visit, outcome });
  }
  return trial;
}

export const picks: fc.Arbitrary<number[]> = fc.array(fc.nat(50), { minLength: 1, maxLength: 20 });
