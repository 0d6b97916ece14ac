/** Maps errors of PostgreSQL to the catalogue. */
import { isOfServer, postgresReason, refusalOf } from '@gantry/postgres';
import { OpenwopError } from '@gantry/protocol';
import { tlsFault } from '../backend-errors.ts';
import type { SqlLimits } from '../ports/sql.ts';
import { aborted, isRefusal, late, refused, said, unavailable } from './errors.ts';

export const NAME = 'PostgreSQL';

const READ_ONLY = '25006';
const NO_RIGHT = '42501';
const CANCELLED = '57014';

export function explain(error: unknown, limits: SqlLimits): unknown {
  if (isRefusal(error) || !(error instanceof Error) || !('code' in error)) return error;
  const code = String(error.code);
  const message = said(NAME, error.message);
  const details = 'operation' in error ? { operation: Number(error.operation) } : {};
  const refusal =
    refusalOf(error, 'the file of data sources') ?? (isOfServer(error) ? null : tlsFault(error));
  if (refusal !== null) return refused(NAME, error, refusal);
  if (!isOfServer(error) || /^(?:08|28|3D|53|57P|58|XX)/.test(code))
    return unavailable(NAME, error, postgresReason(code));
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
