import { ApiError, endsRun } from '@gantry/client';
import { type AiProvider, didYouMean, given, type JsonObject } from '@gantry/protocol';
import { type Actions, actionCommand } from '../actions.ts';
import { type Call, flag, option } from '../command.ts';
import { EXIT, UsageError } from '../io.ts';
import { print } from '../output.ts';
import { printable } from '../style.ts';

/** The workflow that `try` runs: one node that calls a model. */
const TRY_ID = 'gantry-ai-try';
const TRY: JsonObject = {
  id: TRY_ID,
  name: 'Try a model',
  version: '1.0.0',
  description: 'Asks a model what `gantry ai try` was given.',
  nodes: [
    {
      id: 'ask',
      typeId: 'core.ai.callPrompt',
      name: 'Ask',
      position: { x: 0, y: 0 },
      config: {},
      inputs: { prompt: { type: 'variable', variableName: 'prompt' } },
    },
  ],
  edges: [],
  triggers: [{ id: 'manual', type: 'manual', enabled: true }],
  variables: [{ name: 'prompt', type: 'string', defaultValue: 'Say hello in one short sentence.' }],
  metadata: { tags: ['ai'] },
  settings: { timeout: 300_000 },
};

const MODELS_SHOWN = 4;

function modelsOf({ models }: AiProvider): string {
  const more = models.length > MODELS_SHOWN ? ` and ${models.length - MODELS_SHOWN} more` : '';
  return `${models.slice(0, MODELS_SHOWN).join(', ')}${more}`;
}

const actions: Actions = {
  providers: {
    takes: '[--all]',
    async act(call) {
      const all = await call.client.ai.providers();
      const shown = call.args.flag('all') ? all : all.filter(({ state }) => state !== 'no-key');
      const missing = all.filter(({ state }) => state === 'no-key');
      print(call, all, {
        items: shown,
        columns: {
          PROVIDER: 'id',
          STATE: 'state',
          CREDENTIAL: 'credential',
          CAN: ({ tasks }) => tasks.join(','),
          MODELS: (one) => one.next ?? modelsOf(one),
        },
        none: 'No providers.',
        more: missing.length > 0 && !call.args.flag('all') ? 'gantry ai providers --all' : undefined,
      });
    },
  },
  try: { takes: '[prompt] [--provider P] [--model M]', act: tryModel },
};

async function tryModel(call: Call, prompt?: string): Promise<number> {
  const { args, client } = call;
  const named = await namedModel(call);
  await registered(call);
  const { runId } = await client.runs.create({
    workflowId: TRY_ID,
    ...(prompt !== undefined && { inputs: { prompt } }),
    configurable: { ai: { ...named, ...given({ credentialRef: args.text('credential') }) } },
  });
  return told(call, runId);
}

/** `scripted/echo` includes the provider, unless the provider has a model with the whole name. */
async function namedModel({ args, client }: Call): Promise<JsonObject> {
  const { provider, model } = args.given('provider', 'model');
  const [id, ...rest] = model?.split('/') ?? [];
  if (model === undefined || provider !== undefined || rest.length === 0) return given({ provider, model });
  const providers = await client.ai.providers();
  const found = providers.find((one) => one.id === id);
  if (!found) {
    const hint = didYouMean(
      id ?? '',
      providers.map((one) => one.id),
    );
    if (hint !== '') throw new UsageError(`There is no provider "${id}".${hint}`);
    return { model };
  }
  const isWhole = found.defaultModel === model || found.models.includes(model);
  return { provider: found.id, model: isWhole ? model : rest.join('/') };
}

/** Registers the workflow once for each tenant; after that, a key that may not register can use it. */
async function registered({ client }: Call): Promise<void> {
  try {
    await client.workflows.get(TRY_ID);
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 404)) throw error;
    await client.workflows.register(TRY);
  }
}

/** Prints the text while it arrives, then the usage. */
async function told({ args, client, io }: Call, runId: string): Promise<number> {
  let usage: JsonObject | undefined;
  for await (const event of client.runs.events(runId, { streamMode: 'debug', signal: io.signal })) {
    const { type, payload } = event;
    if (type === 'output.chunk' && !args.flag('json')) io.stdout.write(lines(payload.chunk));
    if (type === 'provider.usage') usage = payload as JsonObject;
    if (!endsRun(event)) continue;
    if (args.flag('json')) io.stdout.write(`${JSON.stringify({ runId, ...payload })}\n`);
    if (type !== 'run.completed') {
      const { code = type, message = '' } = Object(payload.error);
      io.stderr.write(`${printable(`${code}: ${message}`)}\nWhy: gantry explain ${runId}\n`);
      return EXIT.failed;
    }
    if (!args.flag('json')) io.stdout.write(`\n${summaryOf(usage, runId)}\n`);
    return EXIT.ok;
  }
  throw new UsageError(`The events of ${runId} ended before the run did. See \`gantry explain ${runId}\`.`);
}

/** Keeps line breaks. */
const lines = (text: unknown): string =>
  String(text ?? '')
    .split('\n')
    .map(printable)
    .join('\n');

function summaryOf(usage: JsonObject | undefined, runId: string): string {
  if (!usage) return runId;
  const { provider, model, inputTokens, outputTokens, costEstimateUsd } = usage;
  const cost = costEstimateUsd === undefined ? '' : `, about $${Number(costEstimateUsd).toPrecision(2)}`;
  return printable(`${provider} ${model}: ${inputTokens} tokens in, ${outputTokens} out${cost}`);
}

export const ai = actionCommand({
  name: 'ai',
  summary: 'list model providers, and try a model',
  details:
    'Without --provider the host chooses one that has a key. `scripted` needs no key and repeats the prompt.\n' +
    'A try is a run like any other, with its events and its cost.',
  actions,
  options: {
    provider: option('P', 'which provider', { of: ['try'] }),
    model: option('M', 'which model, also as PROVIDER/MODEL', { of: ['try'] }),
    credential: option('REF', 'which credential pays', { of: ['try'] }),
    all: flag('those without a key too', { of: ['providers'] }),
    json: flag('print JSON'),
  },
  examples: ['gantry ai providers', 'gantry ai try "Say hello" --provider scripted'],
});
