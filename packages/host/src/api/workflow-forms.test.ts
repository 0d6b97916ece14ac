/** One workflow, written in JSON, YAML and TypeScript. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { expression, type Input, type NodeConfigs, variable, workflow } from '@gantry/client/workflow';
import { CONFIG_MEMBERS } from '@gantry/engine';
import { readSource, yamlOf } from '@gantry/packs';
import { shortWorkflow, type WorkflowDefinition, wholeWorkflow } from '@gantry/protocol';
import { onePerFile } from '../testing/one-per-file.ts';
import { apiTest } from './testing/api-test.ts';

const openApi = onePerFile(apiTest);
const EXAMPLE = new URL('../../../../examples/payout/', import.meta.url);

async function yaml(text: string): Promise<unknown> {
  const source = await readSource('flow.yaml', text);
  assert.ok(source.kind === 'json', JSON.stringify(source));
  return source.value;
}

test('the example in YAML and in TypeScript is one version, also in its whole form', async () => {
  const api = await openApi();
  const hashOf = async (definition: unknown): Promise<string> => {
    const answer = await api.post('/v1/host/gantry/workflows', definition);
    assert.equal(answer.statusCode, 201, answer.body);
    return answer.json().hash;
  };
  const written = await yaml(await readFile(new URL('payout.yaml', EXAMPLE), 'utf8'));
  const { default: built } = await import(new URL('payout.ts', EXAMPLE).href);
  assert.deepEqual(JSON.parse(JSON.stringify(built)), written);
  const hash = await hashOf(written);
  assert.equal(await hashOf(built), hash);
  const whole: WorkflowDefinition = (await api.get('/v1/workflows/payout')).json();
  assert.equal(await hashOf(whole), hash);
  assert.equal(await hashOf(await yaml(await yamlOf(shortWorkflow(whole)))), hash);
  assert.deepEqual(wholeWorkflow(shortWorkflow(whole)), whole);
});

test('a builder refuses ids that are used twice', () => {
  const flow = workflow({ id: 'a', name: 'A', version: '1.0.0' });
  const a = flow.node('a', 'core.noop');
  assert.throws(() => flow.packNode('a', 'vendor.acme.send'), /The id a is used by two nodes/);
  flow.edge(a, a);
  assert.throws(() => flow.edge(a, a), /The id a-a is used by two edges/);
});

test('a builder makes ports, conditions and short forms of what it is given', () => {
  const flow = workflow({ id: 'a', name: 'A', version: '1.0.0', variables: { city: { type: 'string' } } });
  const big = flow.node('big', 'core.conditional', { config: { expression: 'true' } });
  const end = flow.node('end', 'core.end', {
    name: 'End',
    inputs: { a: 1, b: big.output('result', { optional: true }), c: variable('city'), d: expression('1') },
  });
  flow.edge(big, end, { when: 'outputs.result' });
  assert.deepEqual(JSON.parse(JSON.stringify(flow)), {
    id: 'a',
    name: 'A',
    version: '1.0.0',
    variables: [{ name: 'city', type: 'string' }],
    nodes: [
      { id: 'big', typeId: 'core.conditional', name: 'big', config: { expression: 'true' } },
      {
        id: 'end',
        typeId: 'core.end',
        name: 'End',
        inputs: {
          a: { type: 'static', value: 1 },
          b: { type: 'connection', nodeId: 'big', outputKey: 'result', optional: true },
          c: { type: 'variable', variableName: 'city' },
          d: { type: 'expression', expression: '1' },
        },
      },
    ],
    edges: [
      {
        id: 'big-end',
        sourceNodeId: 'big',
        targetNodeId: 'end',
        condition: { type: 'expression', expression: 'outputs.result' },
      },
    ],
  });
});

type Configs = NodeConfigs<'city', 'log'>;
type KeysOf<Config> = Config extends unknown ? (string extends keyof Config ? never : keyof Config) : never;
type Accepts<Type extends keyof Configs, Config> = Config extends Configs[Type] ? true : false;

/** Held by the compiler. */
const ACCEPTED: {
  declaredVariable: ReturnType<typeof variable<'city'>> extends Input<'city'> ? true : false;
  misspelledVariable: ReturnType<typeof variable<'ctiy'>> extends Input<'city'> ? true : false;
  misspelledTarget: Accepts<'core.getVariable', { name: 'ctiy' }>;
  misspelledChannel: Accepts<'core.channelWrite', { channelName: 'lgo' }>;
  missingSetting: Accepts<'core.subWorkflow', { inputMapping: { a: 'city' } }>;
} = {
  declaredVariable: true,
  misspelledVariable: false,
  misspelledTarget: false,
  misspelledChannel: false,
  missingSetting: false,
};

const PROMPT = {
  provider: true,
  model: true,
  credentialRef: true,
  systemPrompt: true,
  userPrompt: true,
  prompt: true,
  messages: true,
  temperature: true,
  maxTokens: true,
  systemPromptRef: true,
  userPromptRef: true,
  schemaHintPromptRef: true,
  fewShotPromptRefs: true,
} as const;
const GATE = {
  title: true,
  description: true,
  artifactId: true,
  artifactType: true,
  resumeSchema: true,
} as const;
const MAPPINGS = { inputMapping: true, outputMapping: true } as const;

/** The compiler holds it to the types, the test to what the host accepts. */
const KEYS: { readonly [Type in keyof Configs]: { readonly [Key in KeysOf<Configs[Type]>]: true } } = {
  'core.start': {},
  'core.end': {},
  'core.parallel': {},
  'core.noop': {},
  'core.identity': {},
  'core.conditional': { type: true, left: true, right: true, expression: true },
  'core.delay': { delayMs: true },
  'core.loop': { count: true, maxIterations: true },
  'core.merge': { mode: true },
  'core.setVariable': { name: true, value: true, expression: true, variables: true },
  'core.getVariable': { name: true },
  'core.channelWrite': { channelName: true, value: true, reducer: true, ttlMs: true },
  'core.subWorkflow': {
    ...MAPPINGS,
    workflowId: true,
    waitForCompletion: true,
    onChildFailure: true,
    propagateCancellation: true,
    outputAttestation: true,
  },
  'core.orchestrator.supervisor': { iterationCap: true },
  'core.dispatch': {
    ...MAPPINGS,
    askUserRouting: true,
    workerDispatchModel: true,
    fanOutPolicy: true,
    maxConcurrency: true,
    iterationCap: true,
    perWorkerInputMappings: true,
    perWorkerOutputMappings: true,
    joinPolicy: true,
  },
  'core.approvalGate': {
    ...GATE,
    actions: true,
    artifactData: true,
    requiredApprovals: true,
    rejectionPolicy: true,
    distinctVoters: true,
    approversList: true,
    approverRoleRefs: true,
    approverGroupRefs: true,
    audience: true,
    profile: true,
    timeoutMs: true,
  },
  'core.openwop.governance.approvalGate': {
    ...GATE,
    requiredRole: true,
    requiredScope: true,
    quorum: true,
    override: true,
    overrideBypassesQuorum: true,
    timeoutSec: true,
  },
  'core.clarificationGate': { questions: true, contextType: true, timeoutMs: true, resumeSchema: true },
  'core.interrupt': { kind: true, data: true, timeoutMs: true, resumeSchema: true },
  'core.conversationGate': {
    prompt: true,
    channel: true,
    maxTurns: true,
    outcomeSchema: true,
    timeoutMs: true,
  },
  'core.ai.callPrompt': { ...PROMPT, envelopeType: true },
  'core.ai.structuredOutput': { ...PROMPT, outputSchema: true, retryOnInvalidJson: true },
  'core.fail': { code: true, message: true },
};

/** Settings of other hosts and of conformance workflows, which the builder does not offer. */
const NOT_OFFERED =
  /^(mock.*|nondeterministic|phase4Probe|byokSecretId|memoryAction|probeMemoryRef|emitDuplicateMessageId|ms|durationMs|initialPrompt|lifecycle|turnCount|promptId|expectsStreaming|mcp|responseSchema)$/;

test('a builder offers the settings that the host accepts', () => {
  assert.ok(ACCEPTED.declaredVariable);
  for (const [type, keys] of Object.entries(KEYS)) {
    const accepted = CONFIG_MEMBERS[type]!.filter((name) => !NOT_OFFERED.test(name));
    assert.deepEqual(Object.keys(keys).sort(), accepted.sort(), type);
  }
  const others = Object.keys(CONFIG_MEMBERS).filter((type) => !Object.hasOwn(KEYS, type));
  assert.deepEqual(
    others.filter((type) => !/conformance|mock/.test(type)),
    [],
  );
});
