/** A starter pack: one node, its schemas, the types of its context, and a workflow to try it with. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Members, Template } from './templates.ts';

/** Written by `prepack` for an installed CLI; absent in a clone. */
const CTX_TYPES = new URL('ctx.d.mts', import.meta.url);
let generated: Promise<string> | undefined;

/** In a clone a program of the surfaces package generates the types; the CLI runs it and never imports it. */
function ctxTypes(): Promise<string> {
  if (existsSync(CTX_TYPES)) return readFile(CTX_TYPES, 'utf8');
  generated ??= printedBy(new URL('docs/print-ctx-types.ts', import.meta.resolve('@gantry/surfaces')));
  return generated;
}

async function printedBy(script: URL): Promise<string> {
  return (await promisify(execFile)(process.execPath, [fileURLToPath(script)])).stdout;
}

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

const schema = (members: Members): string =>
  json({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    required: Object.keys(members).filter((name) => !members[name]?.optional),
    properties: Object.fromEntries(Object.entries(members).map(([name, { type }]) => [name, { type }])),
    additionalProperties: false,
  });

export const LANGUAGES = ['javascript', 'python'] as const;
export type Language = (typeof LANGUAGES)[number];

const RUNTIMES = {
  javascript: { language: 'javascript', format: 'esm', entry: './index.mjs', minRuntimeVersion: 'node>=20' },
  python: { language: 'python', entry: './nodes.py' },
} as const;

const manifest = (name: string, { node, ...template }: Template, language: Language): string =>
  json({
    name,
    version: '0.1.0',
    kind: 'node',
    description: template.description,
    license: 'Apache-2.0',
    engines: { openwop: '>=1.0.0 <2.0.0' },
    ...(template.peerDependencies && { peerDependencies: template.peerDependencies }),
    runtime: { ...RUNTIMES[language], requires: [] },
    nodes: [
      {
        typeId: `${name}.${node}`,
        version: '0.1.0',
        label: template.label,
        description: template.does,
        category: 'data',
        role: template.role,
        configSchemaRef: `schemas/${node}-config.json`,
        inputSchemaRef: `schemas/${node}-inputs.json`,
        outputSchemaRef: `schemas/${node}-outputs.json`,
      },
    ],
  });

const example = (name: string, { node, label, example: inputs }: Template): string =>
  json({
    // Ids of workflows have no dots and no capitals.
    id: `try-${name.toLowerCase().replaceAll('.', '-')}`.slice(0, 128),
    name: 'Try the pack',
    version: '1.0.0',
    nodes: [
      {
        id: node,
        typeId: `${name}.${node}`,
        name: label,
        position: { x: 0, y: 0 },
        config: {},
        inputs: Object.fromEntries(
          Object.keys(inputs).map((input) => [input, { type: 'variable', variableName: input }]),
        ),
      },
    ],
    edges: [],
    triggers: [{ id: 'manual', type: 'manual', enabled: true }],
    variables: Object.entries(inputs).map(([input, defaultValue]) => ({
      name: input,
      type: 'string',
      defaultValue,
    })),
    metadata: {},
    settings: {},
  });

const list = (members: Members): string =>
  Object.keys(members)
    .map((name) => `\`${name}\``)
    .join(', ');

const readme = (name: string, { node, does, config, inputs, outputs }: Template): string => `# ${name}

${does}

| type | config | inputs | outputs |
|---|---|---|---|
| \`${name}.${node}\` | ${list(config)} | ${list(inputs)} | ${list(outputs)} |
`;

/** Files that only the author's editor needs. */
const LEFT_OUT = 'example.json\nctx.d.mts\n';

/** Paths inside the pack, with their content. */
export async function scaffoldFiles(name: string, template: Template, language: Language) {
  const { node, config, inputs, outputs } = template;
  return {
    'pack.json': manifest(name, template, language),
    ...(await codeFiles(name, template, language)),
    'README.md': readme(name, template),
    [`schemas/${node}-config.json`]: schema(config),
    [`schemas/${node}-inputs.json`]: schema(inputs),
    [`schemas/${node}-outputs.json`]: schema(outputs),
    'example.json': example(name, template),
    '.openwopignore': LEFT_OUT,
  };
}

async function codeFiles(
  name: string,
  { node, code, python }: Template,
  language: Language,
): Promise<Record<string, string>> {
  const table = `'${name}.${node}': ${node}`;
  if (language === 'python') return { 'nodes.py': `${python(name)}\n\nnodes = {${table}}\n` };
  return {
    'index.mjs': `${code(name)}\nexport const nodes = { ${table} };\n`,
    'ctx.d.mts': await ctxTypes(),
  };
}

/** Fails with EEXIST if a file exists: files of the author are never overwritten. */
export async function writeFiles(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [file, text] of Object.entries(files)) {
    const target = path.join(folder, file);
    await mkdir(path.dirname(target), { recursive: true });
    await writeFile(target, text, { flag: 'wx' });
  }
}
