/** Checks the shape of a definition as sent, and reports its issues. */
import {
  isObject,
  lazyValidator,
  problemsIn,
  WorkflowDefinition,
  WorkflowEdge,
  WorkflowNode,
  wholeWorkflow,
} from '@gantry/protocol';
import { ISSUES_MAX, type Issue, invalid } from './refusal.ts';

const whole = lazyValidator(WorkflowDefinition);

/** Checked one by one: TypeBox reports eight errors of a value. A blank replaces an unreadable part. */
const PARTS = {
  nodes: {
    validator: lazyValidator(WorkflowNode),
    blank: { id: '-', typeId: 'core.fail', name: '-', position: { x: 0, y: 0 }, config: {}, inputs: {} },
  },
  edges: {
    validator: lazyValidator(WorkflowEdge),
    blank: { id: '-', sourceNodeId: '-', targetNodeId: '-' },
  },
} as const;

/** The whole form. A file may name the schema by which editors check it; it is not part of the workflow. */
function wholeOf(given: unknown): unknown {
  if (!isObject(given)) return given;
  const { $schema: _, ...definition } = given;
  return wholeWorkflow(definition);
}

export function shaped(given: unknown): WorkflowDefinition {
  const definition = wholeOf(given);
  if (whole.Check(definition)) return definition;
  throw invalid(definition, shapeIssues(definition));
}

type Validator = Parameters<typeof problemsIn>[0];

const issuesAt = (path: string, validator: Validator, value: unknown): Issue[] =>
  problemsIn(validator, value).map(({ field, problem }) => ({ path: path + field, message: problem }));

function shapeIssues(definition: unknown): Issue[] {
  const hull: Record<string, unknown> = { ...Object(definition) };
  const issues: Issue[] = [];
  for (const [name, { validator, blank }] of Object.entries(PARTS)) {
    const { [name]: parts } = hull;
    if (!Array.isArray(parts)) continue;
    hull[name] = parts.slice(0, 1).map(() => blank);
    for (const [at, part] of parts.entries())
      if (issues.length < ISSUES_MAX && !validator.Check(part))
        issues.push(...issuesAt(`/${name}/${at}`, validator, part));
  }
  if (!whole.Check(hull)) issues.unshift(...issuesAt('', whole, hull));
  return issues.length > 0 ? issues : issuesAt('', whole, definition);
}

const ENDS = ['id', 'sourceNodeId', 'targetNodeId', 'targetInput'];

/** What else refers to an unreadable part by. */
const textsOf = (part: unknown, names: readonly string[]): object =>
  Object.fromEntries(
    names.map((name) => [name, Object(part)[name]]).filter(([, value]) => typeof value === 'string' && value),
  );

/** The definition without unreadable parts, whose faults were reported before; null if too little is left. */
export function readable(
  given: unknown,
): { definition: WorkflowDefinition; isReported(issue: Issue): boolean } | null {
  const reported = new Set<string>();
  const members = Object.entries(Object(wholeOf(given))).filter(
    ([name]) => name in WorkflowDefinition.properties,
  );
  const definition: Record<string, unknown> = Object.fromEntries(members);
  for (const [name, { validator, blank }] of Object.entries(PARTS)) {
    const { [name]: parts } = definition;
    if (!Array.isArray(parts)) return null;
    definition[name] = parts.map((part, at) => {
      if (validator.Check(part)) return part;
      reported.add(`/${name}/${at}`);
      return { ...blank, id: `-${at}`, ...textsOf(part, name === 'edges' ? ENDS : ['id']) };
    });
  }
  if (!whole.Check(definition)) return null;
  return { definition, isReported: ({ path }) => reported.has(path.split('/').slice(0, 3).join('/')) };
}
