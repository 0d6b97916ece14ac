/** What is wrong with a definition, as the API tells it. */
import type { DefinitionError } from '@gantry/engine';
import { type JsonObject, OpenwopError } from '@gantry/protocol';

const ISSUES_MAX = 50;

interface Issue extends JsonObject {
  path: string;
  message: string;
}

export function invalid(issues: Issue[]): OpenwopError {
  const [first] = issues;
  return new OpenwopError('validation_error', {
    message: `The workflow definition is not valid: ${first?.path || '/'} ${first?.message}.`,
    details: { issues: issues.slice(0, ISSUES_MAX) },
  });
}

export function refusal(error: DefinitionError): OpenwopError {
  const gated = error.issues.find((issue) => issue.code === 'capability_required');
  if (!gated) return invalid(error.issues.map(({ path, message }) => ({ path, message })));
  return new OpenwopError('capability_required', {
    message: `This host can't run the workflow: ${gated.message}.`,
    details: { ...gated.details, issues: error.issues.map(({ path, message }) => ({ path, message })) },
  });
}
