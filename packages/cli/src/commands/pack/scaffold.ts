/** A pack to begin with: one node, its schemas, and a workflow to try it with. */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

const schema = (properties: Record<string, unknown>, required: readonly string[]): string =>
  json({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    required,
    properties,
    additionalProperties: false,
  });

const manifest = (name: string, typeId: string): string =>
  json({
    name,
    version: '0.1.0',
    kind: 'node',
    description: 'Greets people.',
    license: 'Apache-2.0',
    engines: { openwop: '>=1.0.0 <2.0.0' },
    runtime: {
      language: 'javascript',
      format: 'esm',
      entry: './index.mjs',
      minRuntimeVersion: 'node>=20',
      requires: [],
    },
    nodes: [
      {
        typeId,
        version: '0.1.0',
        label: 'Hello',
        description: 'Greets the one who is named.',
        category: 'data',
        role: 'pure',
        configSchemaRef: 'schemas/hello-config.json',
        inputSchemaRef: 'schemas/hello-inputs.json',
        outputSchemaRef: 'schemas/hello-outputs.json',
      },
    ],
  });

const code = (typeId: string): string => `function hello({ inputs, config, log }) {
  const greeting = config.greeting ?? 'Hello';
  log('info', 'greeting', { name: inputs.name });
  return { status: 'success', outputs: { text: \`\${greeting}, \${inputs.name}!\` } };
}

export const nodes = { '${typeId}': hello };
`;

const example = (name: string, typeId: string): string =>
  json({
    // Ids of workflows have neither dots nor capitals.
    id: `try-${name.toLowerCase().replaceAll('.', '-')}`.slice(0, 128),
    name: 'Try the pack',
    version: '1.0.0',
    nodes: [
      {
        id: 'hello',
        typeId,
        name: 'Hello',
        position: { x: 0, y: 0 },
        config: {},
        inputs: { name: { type: 'variable', variableName: 'name' } },
      },
    ],
    edges: [],
    triggers: [{ id: 'manual', type: 'manual', enabled: true }],
    variables: [{ name: 'name', type: 'string', defaultValue: 'Ada' }],
    metadata: {},
    settings: {},
  });

const readme = (name: string, typeId: string): string => `# ${name}

| type | config | inputs | outputs |
|---|---|---|---|
| \`${typeId}\` | \`greeting\` (Hello) | \`name\` | \`text\` |
`;

/** Paths inside the pack, and what is in them. */
export function scaffoldFiles(name: string) {
  const typeId = `${name}.hello`;
  return {
    'pack.json': manifest(name, typeId),
    'index.mjs': code(typeId),
    'README.md': readme(name, typeId),
    'schemas/hello-config.json': schema({ greeting: { type: 'string' } }, []),
    'schemas/hello-inputs.json': schema({ name: { type: 'string' } }, ['name']),
    'schemas/hello-outputs.json': schema({ text: { type: 'string' } }, ['text']),
    'example.json': example(name, typeId),
    '.openwopignore': 'example.json\n',
  };
}

/** Fails with EEXIST where a file is already: nothing of an author's is ever written over. */
export async function writeFiles(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [file, text] of Object.entries(files)) {
    const target = path.join(folder, file);
    await mkdir(path.dirname(target), { recursive: true });
    await writeFile(target, text, { flag: 'wx' });
  }
}
