/** Random workflows without mistakes, and mistakes to put into them. */
import type { JsonObject, WorkflowDefinition, WorkflowNode } from '@gantry/protocol';
import type { TestPack } from '../../packs/testing/pack-archive.ts';
import { edge, node, variable, workflow } from '../../testing/definitions.ts';

/** A whole number below `sides`. */
export type Die = (sides: number) => number;

export function dieOf(seed: number): Die {
  let state = seed + 1;
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
}

const SEND = 'vendor.acme.send';
const properties = {
  recipient: { type: 'string' },
  subject: { type: 'string' },
  priority: { type: 'number' },
};

/** Its inputs are a closed or an open schema. */
export const pack = (isClosed: boolean): TestPack => ({
  version: isClosed ? '1.0.0' : '2.0.0',
  nodes: {
    [SEND]: {
      body: 'return { messageId: 1 };',
      more: { inputSchemaRef: 'in.json', outputSchemaRef: 'out.json' },
    },
  },
  files: {
    'in.json': {
      type: 'object',
      properties,
      required: ['recipient'],
      ...(isClosed && { additionalProperties: false }),
    },
    'out.json': { type: 'object', properties: { messageId: { type: 'number' } } },
  },
});

export const child = workflow('corpus-child', [node('a', 'core.noop')], {
  variables: [
    { name: 'account', type: 'string', required: true },
    { name: 'region', type: 'string' },
    { name: 'reference', type: 'string' },
  ],
});

const NAMES = ['seller', 'customer', 'amount', 'account', 'country', 'discount', 'quantity'];

const FILLERS: readonly ((id: string, name: string) => WorkflowNode)[] = [
  (id) => node(id, 'core.noop'),
  (id) => node(id, 'core.delay', { delayMs: 5 }),
  (id, name) => node(id, 'core.setVariable', { name, value: 'x' }),
  (id, name) => node(id, 'core.identity', {}, { inputs: { copy: variable(name) } }),
  (id, name) => node(id, 'core.getVariable', { name }),
];

export function sound(die: Die, at: number): WorkflowDefinition {
  const from = die(NAMES.length);
  const [first, second, third] = [0, 1, 2].map((n) => NAMES[(from + n) % NAMES.length]!);
  const fillers = Array.from({ length: 1 + die(6) }, (_, n) =>
    FILLERS[die(FILLERS.length)]!(`step-${n}`, second!),
  );
  const choose = node(
    'choose',
    'core.conditional',
    { expression: "inputs.tier == 'gold'" },
    { inputs: { tier: variable(second!) } },
  );
  const send = node('send', SEND, {}, { inputs: { recipient: variable(first!), subject: fixed('Hello') } });
  const bill = node('bill', 'core.subWorkflow', {
    workflowId: child.id,
    inputMapping: { account: first!, ...(die(2) === 0 && { region: second! }) },
    outputMapping: { [third!]: 'reference' },
  });
  const inputs = {
    result: { type: 'connection', nodeId: 'choose', outputKey: 'result' },
    text: { type: 'expression', expression: `variables.${first} + string(nodes.send.outputs.messageId)` },
    given: { type: 'expression', expression: `inputs.${first}` },
  } as const;
  const nodes = [
    node('begin', 'core.start'),
    ...fillers,
    choose,
    send,
    bill,
    node('end', 'core.end', {}, { inputs }),
  ];
  const isBranching = die(2) === 0;
  const condition = { type: 'truthy', left: 'outputs.result' } as const;
  return workflow(`corpus-${at}`, nodes, {
    edges: nodes
      .slice(1)
      .map(({ id }, n) => edge(nodes[n]!.id, id, nodes[n] === choose && isBranching ? { condition } : {})),
    variables: [
      { name: first!, type: 'string', required: true },
      { name: second!, type: 'string', defaultValue: 'gold' },
      { name: third!, type: 'string' },
    ],
    triggers: [
      {
        id: 'daily',
        type: 'schedule',
        enabled: true,
        config: { cron: '0 6 * * *', inputs: { [first!]: 'x' } },
      },
      {
        id: 'hook',
        type: 'webhook',
        enabled: true,
        config: { inputMapping: { [first!]: 'webhook.body.text' } },
      },
    ],
  });
}

const fixed = (value: string) => ({ type: 'static' as const, value });

/** With two letters swapped, one doubled or one missing. */
export function slip(word: string, die: Die): string {
  const at = 1 + die(word.length - 2);
  const [a = '', b = ''] = [word[at], word[at + 1]];
  const [head, tail] = [word.slice(0, at), word.slice(at + 2)];
  return (
    [`${head}${b}${a}${tail}`, `${head}${a}${a}${b}${tail}`, `${head}${b}${tail}`].find(
      (each, n) => each !== word && n >= die(3),
    ) ?? `${word}x`
  );
}

interface Parts {
  readonly definition: WorkflowDefinition;
  readonly die: Die;
  /** The pointer to a node. */
  at(id: string): string;
  config(id: string): JsonObject;
  readonly required: string;
}

/** Each makes its mistake, and answers the pointer to it. */
export const MISTAKES: Readonly<Record<string, (parts: Parts) => string>> = {
  'an unknown child': ({ at, config, die }) => {
    config('bill').workflowId = slip(child.id, die);
    return `${at('bill')}/config/workflowId`;
  },
  'a child input that the child does not declare': ({ at, config, die, required }) => {
    const name = slip('reference', die);
    Object.assign(config('bill').inputMapping as JsonObject, { [name]: required });
    return `${at('bill')}/config/inputMapping/${name}`;
  },
  'a required child input that no mapping names': ({ at, config }) => {
    delete (config('bill').inputMapping as JsonObject).account;
    return `${at('bill')}/config/inputMapping/account`;
  },
  'an output mapping to an undeclared variable': ({ at, config, die, required }) => {
    const name = slip(required, die);
    config('bill').outputMapping = { [name]: 'reference' };
    return `${at('bill')}/config/outputMapping/${name}`;
  },
  'an output that the child does not declare': ({ at, config, die, required }) => {
    config('bill').outputMapping = { [required]: slip('reference', die) };
    return `${at('bill')}/config/outputMapping/${required}`;
  },
  'a child input from an undeclared variable': ({ at, config, die, required }) => {
    config('bill').inputMapping = { account: slip(required, die) };
    return `${at('bill')}/config/inputMapping/account`;
  },
  'a missing input of a pack node': ({ definition, at }) => {
    delete nodeOf(definition, 'send').inputs.recipient;
    return `${at('send')}/inputs/recipient`;
  },
  'a misspelled input of a pack node': ({ definition, at, die }) => {
    const { inputs } = nodeOf(definition, 'send');
    const name = slip('subject', die);
    delete inputs.subject;
    inputs[name] = fixed('Hello');
    return `${at('send')}/inputs/${name}`;
  },
  'an input that a condition does not get': ({ at, config, die }) => {
    config('choose').expression = `inputs.${slip('tier', die)} == 'gold'`;
    return `${at('choose')}/config/expression`;
  },
  'an input that the run does not get': ({ definition, at, die, required }) => {
    const expression = `inputs.${slip(required, die)}`;
    nodeOf(definition, 'end').inputs.given = { type: 'expression', expression };
    return `${at('end')}/inputs/given/expression`;
  },
  'a misspelled variable': ({ definition, at, die, required }) => {
    const expression = `'for ' + variables.${slip(required, die)}`;
    nodeOf(definition, 'end').inputs.text = { type: 'expression', expression };
    return `${at('end')}/inputs/text/expression`;
  },
  'a misspelled output of a connection': ({ definition, at, die }) => {
    const outputKey = slip('result', die);
    nodeOf(definition, 'end').inputs.result = { type: 'connection', nodeId: 'choose', outputKey };
    return `${at('end')}/inputs/result/outputKey`;
  },
  'a misspelled output of a pack node': ({ definition, at, die }) => {
    const expression = `nodes.send.outputs.${slip('messageId', die)}`;
    nodeOf(definition, 'end').inputs.text = { type: 'expression', expression };
    return `${at('end')}/inputs/text/expression`;
  },
  'a misspelled output in a condition of an edge': ({ definition, die }) => {
    const index = definition.edges.findIndex(({ sourceNodeId }) => sourceNodeId === 'choose');
    definition.edges[index]!.condition = { type: 'truthy', left: `outputs.${slip('result', die)}` };
    return `/edges/${index}/condition`;
  },
  'a node without edges into it': ({ definition, at, die }) => {
    const [cut] = definition.edges.splice(die(definition.edges.length), 1);
    return at(cut!.targetNodeId);
  },
  'a schedule without a required input': ({ definition, required }) => {
    definition.triggers[0]!.config = { cron: '0 6 * * *', inputs: {} };
    return `/triggers/0/config/inputs/${required}`;
  },
  'a webhook without a required input': ({ definition, required }) => {
    definition.triggers[1]!.config = { inputMapping: {} };
    return `/triggers/1/config/inputMapping/${required}`;
  },
};

const nodeOf = ({ nodes }: WorkflowDefinition, id: string): WorkflowNode =>
  nodes.find((each) => each.id === id)!;

export function mistaken(
  kind: string,
  die: Die,
  at: number,
): { definition: WorkflowDefinition; pointer: string } {
  const definition = sound(die, at);
  const parts: Parts = {
    definition,
    die,
    at: (id) => `/nodes/${definition.nodes.findIndex((each) => each.id === id)}`,
    config: (id) => nodeOf(definition, id).config as JsonObject,
    required: definition.variables[0]!.name,
  };
  return { definition, pointer: MISTAKES[kind]!(parts) };
}
