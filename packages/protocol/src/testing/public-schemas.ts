/** Access to the public JSON Schemas and fixtures, for tests only. They are not part of this project. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Ajv2020, type AnySchemaObject } from 'ajv/dist/2020.js';

const REPOSITORY = resolve(import.meta.dirname, '../../../..');
const FOLDER = resolve(REPOSITORY, process.env.OPENWOP_DATA ?? '../shared/openwop');
const FOUND = existsSync(FOLDER);

if (!FOUND && process.env.CI === 'true') throw new Error('public data is missing: set OPENWOP_DATA');

/** For the `skip` option of tests that need the public data. */
export const skipWithoutPublicData: false | string = FOUND ? false : 'no public data: set OPENWOP_DATA';

const FORMATS: Record<string, RegExp> = {
  'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/,
  date: /^\d{4}-\d\d-\d\d$/,
  hostname: /^[a-zA-Z0-9.-]+$/,
  uri: /^[a-zA-Z][a-zA-Z0-9+.-]*:\S+$/,
  'uri-reference': /^\S*$/,
};

/**
 * Each process compiles schemas that are not under test, to check few values. Measured for five of them: 280 ms instead
 * of 520.
 */
const OPTIONS = {
  allErrors: true,
  strict: false,
  formats: FORMATS,
  code: { optimize: false },
  validateSchema: false,
};

const readJson = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'));
const isSchema = (value: unknown): value is AnySchemaObject & { $id: string } =>
  typeof value === 'object' && value !== null && '$id' in value && typeof value.$id === 'string';

interface Loaded {
  readonly ajv: Ajv2020;
  /** Schema ids by file name. */
  readonly ids: ReadonlyMap<string, string>;
}

function load(): Loaded {
  const ajv = new Ajv2020(OPTIONS);
  const ids = new Map<string, string>();
  for (const file of globSync('**/*.json', { cwd: join(FOLDER, 'schemas') })) {
    const schema = readJson(join(FOLDER, 'schemas', file));
    if (!isSchema(schema)) continue;
    ajv.addSchema(schema);
    ids.set(file, schema.$id);
  }
  return { ajv, ids };
}

let loaded: Loaded | undefined;

/**
 * A check against a public schema that answers what is wrong; undefined without the public data.
 * @example publicValidator('run-snapshot.schema.json')?.(snapshot) // []
 * @example publicValidator('run-event.schema.json#/$defs/RunEventType')?.('run.started') // []
 */
export function publicValidator(schemaFile: string): ((doc: unknown) => string[]) | undefined {
  if (!FOUND) return undefined;
  loaded ??= load();
  const [file = '', pointer] = schemaFile.split('#');
  const id = loaded.ids.get(file);
  if (id === undefined) throw new Error(`no public schema ${file}`);
  const validate = loaded.ajv.getSchema(pointer === undefined ? id : `${id}#${pointer}`);
  if (validate === undefined) throw new Error(`no public schema ${schemaFile}`);
  return (doc) => {
    validate(doc);
    return (validate.errors ?? []).map((error) => `${error.instancePath || '/'} ${error.message}`);
  };
}

/** A public schema file as it is; undefined without the public data. */
export const publicSchema = (schemaFile: string): unknown =>
  FOUND ? readJson(join(FOLDER, 'schemas', schemaFile)) : undefined;

/** The workflow definitions of the public suite by file name; empty without the public data. */
export function publicFixtures(): Map<string, unknown> {
  const cwd = join(FOLDER, 'fixtures');
  const files = FOUND ? globSync('*.json', { cwd }).sort() : [];
  return new Map(files.map((file) => [file, readJson(join(cwd, file))]));
}

/** Where those definitions lie, for hosts that serve them. */
export const publicFixturesFolder: string = join(FOLDER, 'fixtures');
