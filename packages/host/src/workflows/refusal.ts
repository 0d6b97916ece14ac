/** The issues of a definition, as the API reports them. */
import type { DefinitionError } from '@gantry/engine';
import { type JsonObject, OpenwopError } from '@gantry/protocol';

export const ISSUES_MAX = 50;

export interface Issue extends JsonObject {
  path: string;
  message: string;
}

const NODE = /^\/nodes\/(\d+)(.*)$/;

/** Adds the id of the node, which is easier to find than its index. */
function located(definition: unknown, issue: Issue): Issue {
  const [, index = ''] = NODE.exec(issue.path) ?? [];
  const { nodes } = Object(definition) as { readonly nodes?: unknown };
  const { id } = Object(Array.isArray(nodes) ? nodes[Number(index)] : undefined) as { readonly id?: unknown };
  return index !== '' && typeof id === 'string' ? { ...issue, nodeId: id } : issue;
}

const inWords = ({ path, message, nodeId }: Issue): string =>
  nodeId === undefined
    ? `${path || '/'} ${message}`
    : `node ${nodeId}${NODE.exec(path)?.[2] ? `, ${NODE.exec(path)?.[2]}` : ''}: ${message}`;

export function invalid(definition: unknown, found: readonly Issue[]): OpenwopError {
  const issues = found.slice(0, ISSUES_MAX).map((issue) => located(definition, issue));
  const [first = { path: '', message: 'is wrong' }] = issues;
  return new OpenwopError('validation_error', {
    message: `The workflow definition is not valid: ${inWords(first)}.`,
    details: { issues },
  });
}

export function refusal(definition: unknown, error: DefinitionError): OpenwopError {
  const issues = error.issues.map(({ path, message }) => ({ path, message }));
  const gated = error.issues.find((issue) => issue.code === 'capability_required');
  if (!gated) return invalid(definition, issues);
  return new OpenwopError('capability_required', {
    message: `This host can't run the workflow: ${gated.message}.`,
    details: { ...gated.details, issues: issues.map((issue) => located(definition, issue)) },
  });
}

/** The issues of a refusal; a refusal without a list is one issue itself. */
export function issuesIn({ message, details }: OpenwopError): Issue[] {
  const issues = details?.issues;
  return Array.isArray(issues) ? (issues as Issue[]) : [{ path: '', message }];
}
