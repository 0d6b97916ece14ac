/** Calls of models by nodes of runs that are started for them. */
import type { Api, Caller } from '@gantry/http';
import { isErrorCode, type JsonObject, OpenwopError, optional, Values } from '@gantry/protocol';
import type { EnvelopesPort, ModelsPort, NodeWaits, WriteCall } from '@gantry/surfaces';
import Type from 'typebox';
import type { AskingNode } from '../../ai/ai.ts';
import type { EnvelopeTasks } from '../../ai/conformance-envelope.ts';
import { definition, node, seamId } from './definition.ts';
import type { Drive } from './drive.ts';
import { seam } from './seam.ts';

const Name = Type.String({ minLength: 1, maxLength: 256 });
const Which = { provider: optional(Name), model: optional(Name) };
const Call = Type.Object({ ...Which, messages: Type.Array(Values, { minItems: 1, maxItems: 100 }) });
const Speech = Type.Object({
  ...Which,
  text: Type.String({ minLength: 1, maxLength: 32_000 }),
  voiceId: Name,
  stream: optional(Type.Boolean()),
});
const Transcription = Type.Object({
  ...Which,
  audio: Type.Object({ streamRef: optional(Name), url: optional(Type.String({ maxLength: 8_192 })) }),
  languageCode: optional(Name),
});
const Generate = Type.Object({
  ...Which,
  tenantId: optional(Name),
  envelopeType: Name,
  systemPrompt: Type.String({ maxLength: 32_000 }),
  cachePrefixId: optional(Name),
});
export interface ModelSeamDeps {
  readonly tasks: EnvelopeTasks;
  readonly models: ModelsPort;
  readonly envelopesPort: EnvelopesPort;
  readonly now: () => number;
}

export function modelSeams(
  app: Api,
  drive: Drive,
  { tasks, models, envelopesPort, now }: ModelSeamDeps,
): void {
  seam(app, 'ai/call', Call, async (caller, { messages, ...which }) => {
    const asking = node('ask', 'core.ai.callPrompt', { config: { ...which, messages } as JsonObject });
    const key = await drive.start(caller, [definition(seamId('model'), [asking])]);
    const { snapshot } = await drive.atRest(key);
    if (snapshot.error) throw told(snapshot.error);
    const events = await drive.events(key);
    const { outputs } = events.find(({ type }) => type === 'node.completed')?.payload ?? {};
    return { runId: key.runId, ...(outputs as JsonObject | undefined) };
  });

  /** The result of one call by the only node of a run, and that run. */
  async function called(caller: Caller, method: string, make: (call: WriteCall) => Promise<object>) {
    let answer: JsonObject = {};
    const ask = async (asking: AskingNode): Promise<JsonObject> => {
      answer = { ...(await make(callOf(asking, method, now()))) };
      return {};
    };
    const config = { task: tasks.leave({ ask }) };
    const calling = node('call', 'conformance.envelope', { config });
    const key = await drive.start(caller, [definition(seamId('model'), [calling])]);
    const { snapshot } = await drive.atRest(key);
    if (snapshot.error) throw told(snapshot.error);
    return { key, answer };
  }

  seam(app, 'ai/call-speech-synthesizer', Speech, async (caller, speech) => {
    const make = (call: WriteCall) => models.callSpeechSynthesizer(speech, call);
    return (await called(caller, 'aiProviders.callSpeechSynthesizer', make)).answer;
  });

  seam(app, 'ai/call-transcriber', Transcription, async (caller, asked) => {
    const make = (call: WriteCall) => models.callTranscriber(asked, call);
    return (await called(caller, 'aiProviders.callTranscriber', make)).answer;
  });

  /** Tenants of the request are below the tenant of the caller, which the host puts before every id. */
  seam(app, 'ai/generate', Generate, async (caller, { tenantId, cachePrefixId, ...asked }) => {
    const prefix = cachePrefixId === undefined ? {} : { cachePrefixId: `${tenantId}/${cachePrefixId}` };
    const { key, answer } = await called(caller, 'aiEnvelope.generate', (call) =>
      envelopesPort.generate({ ...asked, ...prefix }, call).catch(questions),
    );
    const { usage: _, ...envelope } = answer;
    const events = await drive.events(key);
    return { envelope, usage: events.findLast(({ type }) => type === 'provider.usage')?.payload ?? {} };
  });
}

/** The call as the gate makes it for the first call of a node. */
function callOf(
  { owner, runId, nodeId, ordinalBase, epoch, tell, run, signal }: AskingNode,
  method: string,
  now: number,
): WriteCall {
  const pack = { name: 'core.conformance', version: '1.0.0' };
  const at = { tenant: owner.tenant, runId, nodeId, ordinal: ordinalBase };
  return {
    owner,
    tenant: owner.tenant,
    signal,
    now,
    caller: {
      kind: 'node',
      runId,
      nodeId,
      pack,
      effect: 'effect',
      ordinalBase,
      work: { epoch, tell, run, waits: ASKING },
    },
    invocation: {
      ...at,
      id: `${runId}/${nodeId}`,
      journalKey: `${runId}/${nodeId}`,
      method,
      fingerprint: method,
    },
  };
}

/** The model asks a question, which is the requested envelope. */
class Question extends Error {
  readonly request: JsonObject;

  constructor(request: JsonObject) {
    super('A question');
    this.request = request;
  }
}

const ASKING: NodeWaits = {
  answerOf: () => undefined,
  wait: ({ suspend }) => {
    throw new Question(suspend.request);
  },
};

function questions(error: unknown): object {
  if (!(error instanceof Question)) throw error;
  return { envelopeType: 'clarification.request', payload: { questions: error.request.questions } };
}

/** Converts the failure of a run to an HTTP error. */
const told = ({ code, message }: { readonly code: string; readonly message: string }): OpenwopError =>
  isErrorCode(code)
    ? new OpenwopError(code, { message })
    : new OpenwopError('internal_error', { message: `The run failed with ${code}.` });
