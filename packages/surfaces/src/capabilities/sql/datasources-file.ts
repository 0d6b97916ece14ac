/** The file of data sources. Its addresses hold passwords: no message here repeats a value. */
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import Type, { type Static } from 'typebox';
import type { TLocalizedValidationError } from 'typebox/error';
import { Compile } from 'typebox/schema';
import { codeOf } from '../../backend-errors.ts';
import { isServerUrl, NO_URL } from '../../open-port.ts';

const DATASOURCES_MAX = 200;
const SCHEMES = { postgres: ['postgres:', 'postgresql:'], mysql: ['mysql:', 'mariadb:'] } as const;

const File = Type.Object(
  {
    datasources: Type.Array(
      Type.Object(
        {
          id: Type.String({ minLength: 1, maxLength: 64 }),
          tenants: Type.Union([
            Type.Literal('*'),
            Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: 10_000 }),
          ]),
          driver: Type.Union([Type.Literal('sqlite'), Type.Literal('postgres'), Type.Literal('mysql')]),
          url: Type.Optional(Type.String()),
          file: Type.Optional(Type.String({ minLength: 1 })),
          readOnly: Type.Optional(Type.Boolean()),
          maxRows: Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000 })),
          timeoutMs: Type.Optional(Type.Integer({ minimum: 100, maximum: 60_000 })),
        },
        { additionalProperties: false },
      ),
      { maxItems: DATASOURCES_MAX },
    ),
  },
  { additionalProperties: false },
);
type Written = Static<typeof File>['datasources'][number];

/** Describes the required members of a data source. */
const NEEDED: Readonly<Record<string, string>> = {
  id: 'a name of 1 to 64 characters',
  tenants: '"*" for every tenant, or a list of tenants',
  driver: '"sqlite", "postgres" or "mysql"',
};
const SETTINGS = Object.keys(File.properties.datasources.items.properties);

export interface DatasourceConfig extends Pick<Written, 'id' | 'tenants' | 'maxRows' | 'timeoutMs'> {
  readonly readOnly: boolean;
  readonly location:
    | { readonly driver: 'sqlite'; readonly file: string }
    | { readonly driver: 'postgres' | 'mysql'; readonly url: string };
}

/** Relative paths are relative to the file. */
export function readDatasources(path: string): DatasourceConfig[] {
  const written = parse(path);
  const validator = Compile(File);
  if (!validator.Check(written)) throw invalid(path, problemOf(validator.Errors(written)[1][0]));
  for (const [index, each] of written.datasources.entries())
    if (written.datasources.slice(0, index).some((before) => overlap(before, each)))
      throw invalid(path, `/datasources/${index} has an id that one of its tenants has already`);
  return written.datasources.map((each, index) => {
    const { driver: _driver, url: _url, file: _file, readOnly = false, ...rest } = each;
    return { ...rest, readOnly, location: locationOf(path, index, each) };
  });
}

function problemOf(error: TLocalizedValidationError | undefined): string {
  const [at, field = ''] = /^\/datasources\/\d+(?:\/([^/]+))?/.exec(error?.instancePath ?? '') ?? [];
  if (error === undefined || at === undefined)
    return `it must be { "datasources": [...] } and nothing else, with at most ${DATASOURCES_MAX} of them`;
  if (error.keyword === 'required') {
    const missing = error.params.requiredProperties.map((name) => `"${name}" (${NEEDED[name]})`);
    return `${at} lacks ${missing.join(', ')}`;
  }
  if (error.keyword === 'boolean') return `${at} is not a setting; the settings are ${SETTINGS.join(', ')}`;
  const needed = NEEDED[field];
  return needed === undefined ? `${at} ${error.message}` : `${at} must be ${needed}`;
}

function parse(path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new Error(
      `The file of data sources ${path} cannot be read (${codeOf(error) ?? 'no reason given'}).`,
    );
  }
  try {
    return JSON.parse(text);
  } catch {
    // The parser's message quotes its input
    throw invalid(path, 'is not JSON');
  }
}

const overlap = (left: Written, right: Written): boolean =>
  left.id === right.id &&
  (left.tenants === '*' ||
    right.tenants === '*' ||
    right.tenants.some((tenant) => left.tenants.includes(tenant)));

function locationOf(
  path: string,
  index: number,
  { driver, url, file }: Written,
): DatasourceConfig['location'] {
  const at = `/datasources/${index}`;
  if (driver === 'sqlite') {
    if (file === undefined || url !== undefined) throw invalid(path, `${at} needs "file" and no "url"`);
    return { driver, file: resolve(dirname(path), file) };
  }
  if (url === undefined || file !== undefined) throw invalid(path, `${at} needs "url" and no "file"`);
  const schemes: readonly string[] = SCHEMES[driver];
  const begins = `must begin with ${schemes.map((each) => `${each}//`).join(' or ')}`;
  if (!isServerUrl(url)) throw invalid(path, `${at}/url ${NO_URL}; it ${begins}`);
  if (!schemes.includes(new URL(url).protocol)) throw invalid(path, `${at}/url ${begins}`);
  return { driver, url };
}

const invalid = (path: string, problem: string): Error =>
  new Error(`The file of data sources ${path}: ${problem}.`);
