/** Everything that is wrong with a definition, or probably is, in one answer. */
import { enginesProblem } from '@gantry/packs';
import { OpenwopError, type WorkflowDefinition } from '@gantry/protocol';
import type { Store } from '@gantry/store';
import { ENGINES_VERSION } from '../packs/offer.ts';
import type { PackBinding } from '../packs/packs.ts';
import type { Checked } from '../runtime/runtime.ts';
import { scheduleTriggerIssues } from '../schedules/triggers.ts';
import { triggerIssues } from '../triggers/definition-triggers.ts';
import { childWarnings } from './child-warnings.ts';
import { configurableSchemaIssues } from './configurable.ts';
import { planProblems } from './plans.ts';
import { type Issue, invalid, issuesIn } from './refusal.ts';
import { readable, shaped } from './shape.ts';

/** Returns the definition, or throws everything that is wrong with it alone. */
export function read(given: unknown, now: number): WorkflowDefinition {
  const definition = shaped(given);
  const issues = ownIssues(definition, now);
  if (issues.length === 0) return definition;
  throw invalid(definition, issues);
}

const ownIssues = (definition: WorkflowDefinition, now: number): Issue[] => [
  ...scheduleTriggerIssues(definition, now),
  ...triggerIssues(definition).map(({ path, message }) => ({ path, message })),
  ...enginesIssues(definition),
  ...configurableSchemaIssues(definition).map((message) => ({ path: '/configurableSchema', message })),
];

function enginesIssues({ engines }: WorkflowDefinition): Issue[] {
  const problem = engines && enginesProblem(engines.openwop, ENGINES_VERSION);
  return problem ? [{ path: '/engines/openwop', message: `The workflow ${problem.why.slice(0, -1)}` }] : [];
}

interface CheckOptions {
  readonly records: Store['records'];
  readonly packs: PackBinding;
  readonly now: number;
}

export async function check(
  { records, packs, now }: CheckOptions,
  tenant: string,
  given: unknown,
): Promise<Checked> {
  const misshapen = shapeIssues(given);
  const rest = readable(given);
  if (!rest) return { definition: null, issues: misshapen, warnings: [] };
  const { definition, isReported } = rest;
  const planned = await planProblems(packs, tenant, definition);
  const found = [...ownIssues(definition, now), ...planned.issues];
  const warnings = [...planned.warnings, ...(await childWarnings(records, tenant, definition))];
  return {
    definition,
    issues: [...misshapen, ...found.filter((issue) => !isReported(issue))],
    warnings: warnings.filter((warning) => !isReported(warning)),
  };
}

function shapeIssues(given: unknown): Issue[] {
  try {
    shaped(given);
    return [];
  } catch (error) {
    if (error instanceof OpenwopError) return issuesIn(error);
    throw error;
  }
}
