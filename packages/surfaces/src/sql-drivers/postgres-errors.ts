/** What PostgreSQL reports, in the words of the catalogue. */
import { OpenwopError } from '@gantry/protocol';
import { ofConnecting } from '../backend-errors.ts';
import type { SqlLimits } from '../ports/sql.ts';
import { postgresReason } from '../postgres-reason.ts';
import { refusedParameter } from '../refused-parameter.ts';
import { aborted, isRefusal, late, NO_DATABASE, refused, said, unavailable, WRONG_LOGIN } from './errors.ts';

export const NAME = 'PostgreSQL';

const READ_ONLY = '25006';
const NO_RIGHT = '42501';
const CANCELLED = '57014';

const REFUSALS: Readonly<Record<string, string>> = {
  '28P01': WRONG_LOGIN,
  '28000':
    'refuses the user, or connections from here (pg_hba.conf). Correct the file of data sources, or the server.',
  SASL_SIGNATURE_MISMATCH: WRONG_LOGIN,
  AUTH_TYPE_NOT_IMPLEMENTED:
    'asks for a way to log in that is not supported. Let the user log in with a password (scram-sha-256 in pg_hba.conf).',
  '3D000': NO_DATABASE,
};

function refusalOf(error: Error, code: string): string | undefined {
  const parameter = refusedParameter(error);
  return parameter === null ? REFUSALS[code] : `${parameter} Correct it in the file of data sources.`;
}

export function explain(error: unknown, limits: SqlLimits): unknown {
  if (isRefusal(error) || !(error instanceof Error) || !('code' in error)) return error;
  const code = String(error.code);
  const message = said(NAME, error.message);
  const details = 'operation' in error ? { operation: Number(error.operation) } : {};
  const refusal = refusalOf(error, code);
  if (refusal !== undefined) return refused(NAME, error, refusal);
  // By its name, since codes of the system can look like those of the server: EPIPE
  if (error.name !== 'PostgresError' || /^(?:08|28|3D|53|57P|58|XX)/.test(code))
    return unavailable(NAME, error, postgresReason(ofConnecting(error, code)));
  if (code === READ_ONLY)
    return new OpenwopError('validation_error', { message: `${message}. Use ctx.db.sql.execute to write.` });
  if (code === NO_RIGHT) return new OpenwopError('datasource_access_denied', { message });
  if (code === CANCELLED) return late(limits);
  if (code.startsWith('40') || code === '55P03') return aborted('conflict', message, details);
  if (code.startsWith('23')) return aborted('constraint', message, details);
  if (code.startsWith('22')) return aborted('data', message, details);
  if (/^(?:42|0A|54)/.test(code)) return new OpenwopError('sql_syntax_error', { message, details });
  return aborted('database', message, details);
}
