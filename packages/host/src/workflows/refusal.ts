/** The problems of a definition, as the API reports them. */
import type { DefinitionError } from '@gantry/engine';
import { given, type JsonObject, OpenwopError, type WorkflowIssue } from '@gantry/protocol';

export const ISSUES_MAX = 200;

/** A problem where it was found: a message without its full stop, and perhaps what to do. */
export type Issue = Pick<WorkflowIssue, 'path' | 'message' | 'fix'>;

const PART = /^\/(nodes|edges)\/(\d+)(.*)$/;

/** Adds the id of the node or edge, which is easier to find than its index. */
export function located(
  definition: unknown,
  { path, message, fix }: Issue,
  severity: WorkflowIssue['severity'] = 'error',
): WorkflowIssue {
  const [, list = '', index = ''] = PART.exec(path) ?? [];
  const { [list]: parts } = Object(definition) as { readonly [name: string]: unknown };
  const { id } = Object(Array.isArray(parts) ? parts[Number(index)] : undefined) as { readonly id?: unknown };
  const name = typeof id === 'string' ? { [list === 'nodes' ? 'nodeId' : 'edgeId']: id } : {};
  return { path, ...name, severity, message, ...given({ fix }) };
}

/** @example sentence({ message: 'There is no node b', fix: 'Did you mean a?' }) // 'There is no node b. Did you mean a?' */
export const sentence = ({ message, fix }: Pick<Issue, 'message' | 'fix'>): string =>
  `${message.replace(/\.$/, '')}.${fix === undefined ? '' : ` ${fix}`}`;

function inWords(issue: WorkflowIssue): string {
  const { path, nodeId } = issue;
  const rest = PART.exec(path)?.[3] ?? '';
  const place = nodeId === undefined ? `${path || '/'} ` : `node ${nodeId}${rest && `, ${rest}`}: `;
  return place + sentence(issue);
}

export function invalid(definition: unknown, found: readonly Issue[]): OpenwopError {
  const issues = found.slice(0, ISSUES_MAX).map((issue) => located(definition, issue));
  const [first = located(definition, { path: '', message: 'is wrong' })] = issues;
  return new OpenwopError('validation_error', {
    message: `The workflow definition is not valid: ${inWords(first)}`,
    details: { issues: issues as JsonObject[] },
  });
}

export function refusal(definition: unknown, error: DefinitionError): OpenwopError {
  const gated = error.issues.find((issue) => issue.code === 'capability_required');
  if (!gated) return invalid(definition, error.issues);
  const issues = error.issues.slice(0, ISSUES_MAX).map((issue) => located(definition, issue));
  return new OpenwopError('capability_required', {
    message: `This host can't run the workflow: ${sentence(gated)}`,
    details: { ...gated.details, issues: issues as JsonObject[] },
  });
}

/** The issues of a refusal; a refusal without a list is one issue itself. */
export function issuesIn({ message, details }: OpenwopError): Issue[] {
  const issues = details?.issues;
  return Array.isArray(issues) ? (issues as WorkflowIssue[]) : [{ path: '', message }];
}
