/** `ctx.db.sql`: SQL on data sources, and on rows that a node passes in. */
import { OpenwopError } from '@gantry/protocol';
import Type from 'typebox';
import { ServerError } from '../../backend-errors.ts';
import { type Data, type DataObject, isObject } from '../../calls/data.ts';
import { defineSurface, type ImplementedSurface, reads, writes } from '../../calls/define-surface.ts';
import * as s from '../../calls/schema.ts';
import { also, datasource, either, fill, isList, member, rename } from '../../calls/spelling.ts';
import {
  DATA_DIR,
  folderHealth,
  named,
  type OpenDeps,
  type OpenedSurface,
  SETTINGS,
  settingOf,
} from '../../open-port.ts';
import { SQL_LIMITS } from '../../ports/sql.ts';
import { type MemoryTables, memoryTables, SqlitePool } from '../../sql-drivers/sqlite.ts';
import { type DatasourceBackend, type Datasources, openDatasources } from './datasources.ts';
import { tablesOf } from './tables.ts';
import { type SqlParams, statementOf } from './template.ts';

const PARAMS_MAX = 10_000;
const OPERATIONS_MAX = 200;
const DATASOURCE = 'primary';

const Params = Type.Refine(
  Type.Unsafe<SqlParams>({ description: 'values in order, or by name' }),
  (value) => (Array.isArray(value) || isObject(value)) && Object.keys(value as object).length <= PARAMS_MAX,
  () => `must be an array, or an object for :name parameters, of at most ${PARAMS_MAX} values`,
);
const Statement = { sql: Type.String({ minLength: 1 }), params: s.optional(Params) };
const Source = { datasourceId: s.optional(s.Name) };
const Rows = {
  rows: Type.Array(Type.Unsafe<DataObject>({ description: 'a row by its columns' })),
  rowCount: s.Whole,
};
const Affected = { rowsAffected: s.Whole };

const noParams = fill({ params: [] });

/** Without a file of data sources there is only `primary`. Rejects when the file is not valid. */
export async function openSql(deps: OpenDeps): Promise<OpenedSurface> {
  const pool = new SqlitePool();
  const datasources = await named(
    SETTINGS.datasources,
    openDatasources(deps.backends.datasources, { ...deps, pool }),
  );
  const setting = settingOf('datasources', deps);
  const servedBy = (backend: DatasourceBackend) => {
    const at = { capability: 'sql', datasource: backend.id, setting };
    return backend.kind === 'embedded'
      ? { ...at, name: DATA_DIR, backend: { ...backend, health: folderHealth({ folder: 'sql' }, deps) } }
      : { ...at, name: `${SETTINGS.datasources}: Data source "${backend.id}"`, backend };
  };
  return {
    implement: () => implementSql({ datasources, tables: memoryTables(pool, SQL_LIMITS) }),
    backends: datasources.backends.map(servedBy),
    /** Waits for running statements. */
    async close() {
      await datasources.close();
      await pool.close();
    },
  };
}

export const sqlSurface = defineSurface({
  capability: 'sql',
  spellings: [
    { call: 'query', when: 'tables', to: 'queryTables', takes: [noParams] },
    { call: 'query', takes: [datasource, noParams] },
    { call: 'execute', takes: [datasource, noParams], gives: [also({ affected: 'rowsAffected' })] },
    {
      call: 'transaction',
      takes: [
        datasource,
        either('statements', 'operations'),
        rename({ statements: 'operations' }),
        member('operations', 'each with `params`, empty unless given', ({ operations }) =>
          isList(operations)
            ? operations.map((each) => (isObject(each) ? { params: [], ...each } : each))
            : undefined,
        ),
      ],
    },
  ],
  summary:
    'SQL on data sources of the tenant; `primary` is there unless the operator says otherwise. Values go through ' +
    '`params` only: text in a statement, or a number where rows are chosen or written, is refused. A list or an object ' +
    'in `params` is kept and compared as its JSON text, but not inside `in (...)`: that requires a placeholder for each value.',
  journal: 'backend',
  opens: openSql,
  limits: {},
  options: {
    transactions: { summary: 'Several statements, all or none.', advertises: { transactions: true } },
  },
  errors: [
    'sql_non_parametric',
    'datasource_not_found',
    'datasource_access_denied',
    'sql_syntax_error',
    'sql_transaction_aborted',
    'storage_unavailable',
    'effect_in_doubt',
  ],
  methods: {
    query: reads(
      'Rows of one SELECT, WITH or VALUES. Parameters are ?, $1 or :name, on every driver.',
      { ...Source, ...Statement },
      Rows,
    ),
    queryTables: reads(
      'Rows of one SELECT over `tables`: rows by the name of their table, in memory, for this call alone.',
      { ...Statement, tables: Type.Record(Type.String(), Type.Array(Type.Unknown())) },
      Rows,
    ),
    execute: writes(
      'One INSERT, UPDATE, DELETE, or a definition of a table, index or view.',
      { ...Source, ...Statement },
      Affected,
    ),
    transaction: writes(
      'Statements as of `execute`, all or none. MySQL takes no definitions here.',
      {
        ...Source,
        operations: Type.Array(Type.Object(Statement), { minItems: 1, maxItems: OPERATIONS_MAX }),
      },
      { committed: Type.Literal(true), results: s.listOf(Affected) },
      { needs: 'transactions' },
    ),
  },
});

export interface SqlOptions {
  readonly datasources: Datasources;
  readonly tables: MemoryTables;
}

export function implementSql({ datasources, tables }: SqlOptions): ImplementedSurface {
  return sqlSurface.implement(
    {
      async query({ datasourceId = DATASOURCE, ...asked }, call) {
        const { backend } = datasources.find(datasourceId, call.tenant);
        return counted(await backend.query(statementOf(asked, 'query', backend.dialect), call));
      },
      async queryTables({ tables: given, ...asked }, call) {
        const statement = statementOf(asked, 'query', 'sqlite');
        return counted(await tables.query(tablesOf(given as Record<string, Data[]>), statement, call));
      },
      async execute({ datasourceId = DATASOURCE, ...asked }, call) {
        const backend = writable(datasources, datasourceId, call.tenant);
        const [rowsAffected = 0] = await backend.execute(
          [statementOf(asked, 'execute', backend.dialect)],
          call,
        );
        return { rowsAffected };
      },
      async transaction({ datasourceId = DATASOURCE, operations }, call) {
        const backend = writable(datasources, datasourceId, call.tenant);
        const statements = operations.map((each, index) => {
          try {
            return statementOf(each, 'execute', backend.dialect);
          } catch (error) {
            return failedAt(error, index);
          }
        });
        const affected = await backend.execute(statements, call).catch(failedAt);
        return { committed: true, results: affected.map((rowsAffected) => ({ rowsAffected })) };
      },
    },
    {
      advertises: { datasources: datasources.advertised, drivers: datasources.drivers },
      journalOf: ({ datasourceId = DATASOURCE }, { tenant }) =>
        datasources.find(String(datasourceId), tenant).backend.journal,
    },
  );
}

const counted = (rows: DataObject[]) => ({ rows, rowCount: rows.length });

function writable(datasources: Datasources, id: string, tenant: string) {
  const { backend, isReadOnly } = datasources.find(id, tenant);
  if (!isReadOnly) return backend;
  throw new OpenwopError('datasource_access_denied', {
    message: `The data source "${id}" is read-only. Only the operator can change that.`,
  });
}

/** Adds which operation failed. Drivers report it in `details` if known. */
function failedAt(error: unknown, at?: number): never {
  if (!(error instanceof OpenwopError) || error instanceof ServerError) throw error;
  const { code, message, details, cause } = error;
  const operation = at ?? details?.operation;
  if (typeof operation !== 'number') throw error;
  throw new OpenwopError(code, {
    message: `operations[${operation}]: ${message}`,
    details: { ...details, operation },
    ...(cause !== undefined && { cause }),
  });
}
