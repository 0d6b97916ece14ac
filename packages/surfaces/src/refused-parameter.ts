import { codeOf } from './backend-errors.ts';

const UNKNOWN_PARAMETER = '42704';
const WRONG_VALUE = '22023';

/** What PostgreSQL says of a parameter in the URL, else null. FATAL: it was connecting, and no statement of ours. */
export function refusedParameter(error: unknown): string | null {
  const code = codeOf(error);
  if (code !== UNKNOWN_PARAMETER && code !== WRONG_VALUE) return null;
  if (!(error instanceof Error && 'severity' in error && error.severity === 'FATAL')) return null;
  const name = /"([\w.]{1,63})"/.exec(error.message)?.[1];
  const parameter = name === undefined ? 'a parameter' : `the parameter "${name}"`;
  return code === UNKNOWN_PARAMETER
    ? `does not know ${parameter} of the URL.`
    : `does not take the value of ${parameter} of the URL.`;
}
