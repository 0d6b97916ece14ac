/** Starter packs: one node each. */
export interface Template {
  /** Describes the pack. */
  readonly description: string;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  /** The last part of its type id, and the name of its function. */
  readonly node: string;
  readonly label: string;
  /** Describes the node. */
  readonly does: string;
  readonly role: 'pure' | 'side-effect';
  /** Schemas of objects whose members are all strings or numbers. */
  readonly config: Members;
  readonly inputs: Members;
  readonly outputs: Members;
  /** Default inputs of the node in the example. */
  readonly example: Readonly<Record<string, string>>;
  /** The source of the function. */
  code(packName: string): string;
  python(packName: string): string;
}

export interface Member {
  readonly type: 'string' | 'integer';
  readonly optional?: true;
}
export type Members = Readonly<Record<string, Member>>;

/** A node that only computes. */
export const GREETING: Template = {
  description: 'Greets people.',
  node: 'hello',
  label: 'Hello',
  does: 'Greets the given name.',
  role: 'pure',
  config: { greeting: { type: 'string', optional: true } },
  inputs: { name: { type: 'string' } },
  outputs: { text: { type: 'string' } },
  example: { name: 'Ada' },
  code: () => `/** @param {import('./ctx.d.mts').Ctx<{ name: string }, { greeting?: string }>} ctx */
function hello({ inputs, config, log }) {
  const greeting = config.greeting ?? 'Hello';
  log('info', 'greeting', { name: inputs.name });
  return { status: 'success', outputs: { text: \`\${greeting}, \${inputs.name}!\` } };
}
`,
  python: () => `def hello(ctx):
    greeting = ctx.config.get('greeting', 'Hello')
    ctx.log('info', 'greeting')
    return {'text': f"{greeting}, {ctx.inputs['name']}!"}
`,
};

/** A node that stores data through the host. */
export const COUNTING: Template = {
  description: 'Counts visits.',
  peerDependencies: { 'host.kvStorage': 'required', 'host.tableStorage': 'required' },
  node: 'count',
  label: 'Count',
  does: 'Counts a visit, and keeps it.',
  role: 'side-effect',
  config: {},
  inputs: { page: { type: 'string' } },
  outputs: { visits: { type: 'integer' } },
  example: { page: '/home' },
  code: (packName) => `/** @param {import('./ctx.d.mts').Ctx<{ page: string }>} ctx */
async function count({ inputs, storage }) {
  const store = '${packName}';
  const { value } = await storage.kv.atomicIncrement({ namespace: store, key: inputs.page });
  await storage.table.insert({ table: store, row: { page: inputs.page, visit: value } });
  return { status: 'success', outputs: { visits: value } };
}
`,
  python: (packName) => `def count(ctx):
    store = '${packName}'
    page = ctx.inputs['page']
    counted = ctx.storage.kv.atomicIncrement({'namespace': store, 'key': page})
    ctx.storage.table.insert({'table': store, 'row': {'page': page, 'visit': counted['value']}})
    return {'visits': counted['value']}
`,
};
