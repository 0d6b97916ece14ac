/** Calls of pack code for envelopes, through the call gate. */
import { type ContentTrust, envelopeDirective, type Fault, markUntrusted, objectFaults } from '@gantry/ai';
import { given, type Json, type JsonObject, OpenwopError } from '@gantry/protocol';
import { assertSameCall, type EnvelopesPort, type NodeWaits, type WriteCall } from '@gantry/surfaces';
import { PLACEHOLDER } from '../prompts/compose.ts';
import { type AskingNode, nodeCaller } from './ai.ts';
import type { ChatAsk } from './chat.ts';
import { type EnvelopeDeps, envelopeTurns, type Generated } from './envelope-turns.ts';
import { awaited } from './envelope-wait.ts';
import type { Envelopes } from './envelopes.ts';
import { nodeOf } from './models-port.ts';
import type { CallPlace } from './planned-call.ts';
import { schemaFaults } from './structured.ts';

export interface EnvelopesPortDeps extends EnvelopeDeps {
  readonly envelopes: Envelopes;
}

type GenerateInput = Parameters<EnvelopesPort['generate']>[0];
type Answer = Awaited<ReturnType<EnvelopesPort['generate']>>;

export const createEnvelopesPort = (deps: EnvelopesPortDeps): EnvelopesPort => ({
  generate: (input, call) => generate(deps, input, call),
  await: (input, call) => {
    const { ordinal } = call.invocation;
    return awaited(deps, { ...input, node: nodeOf(call), waits: waitsOf(call), ordinal });
  },
});

async function generate(deps: EnvelopesPortDeps, input: GenerateInput, call: WriteCall): Promise<Answer> {
  const { invocation } = call;
  const { method, fingerprint } = invocation;
  const node = nodeOf(call);
  const waits = waitsOf(call);
  const { envelopeType, idempotencyKey } = input;
  const before =
    idempotencyKey === undefined
      ? null
      : await deps.envelopes.accepted(
          { tenant: call.tenant, runId: node.runId },
          envelopeType,
          idempotencyKey,
        );
  if (before) return before;
  const series = `aiEnvelope.${invocation.ordinal}`;
  const place: CallPlace = { ordinal: node.ordinalBase, series, method, fingerprint };
  const schema = input.schema as JsonObject | undefined;
  const asked = { envelopeType, isReceived: true, faultsOf: payloadFaults(schema), ...given({ schema }) };
  const generated = await envelopeTurns(deps, node, place, {
    ...asked,
    ask: askOf(input, envelopeDirective(asked), node.run.trust),
    first: [],
    trust: node.run.trust,
    answerOf: waits.answerOf,
    ...(idempotencyKey !== undefined && { correlationId: idempotencyKey }),
  });
  if (generated.kind === 'ask') return waits.wait(generated);
  if (generated.kind === 'failed') throw await failed(deps, node, place, generated);
  const { chatted, payload, envelopeId = '', rendering } = generated;
  if (chatted.recorded.isRepeated) assertSameCall(invocation, chatted.recorded);
  const { usage, model } = chatted.answer;
  const { estimated: _, ...used } = usage;
  return {
    envelopeType: generated.envelopeType,
    payload,
    envelopeId,
    usage: used,
    model,
    ...(rendering && { rendering }),
  };
}

/** Its events are logged once, however often the node runs. */
async function failed(
  { envelopes }: EnvelopesPortDeps,
  node: AskingNode,
  place: CallPlace,
  { error, untold }: Extract<Generated, { kind: 'failed' }>,
): Promise<OpenwopError> {
  if (untold.length > 0)
    await envelopes.tell(nodeCaller(node, place.ordinal, `${place.series}\0failed`), untold);
  const { message, details } = error;
  const code = error.code === 'envelope_refusal' ? 'envelope_refusal' : 'envelope_validation_failed';
  return new OpenwopError(code, { message, details: { ...details, reason: error.code } });
}

function waitsOf({ caller }: WriteCall): NodeWaits {
  const waits = caller.kind === 'node' ? caller.work?.waits : undefined;
  if (waits) return waits;
  throw new OpenwopError('host_capability_missing', { message: 'Envelopes belong to nodes of runs.' });
}

function payloadFaults(schema: JsonObject | undefined): (payload: Json) => readonly Fault[] {
  if (!schema) return objectFaults;
  const own = schemaFaults(schema);
  return (payload) => [...objectFaults(payload), ...own(payload)];
}

/** Placeholders without a variable stay; variables without a placeholder are sent with the context. */
function askOf(input: GenerateInput, directive: string, trust: ContentTrust): ChatAsk {
  const { systemPrompt, userMessage = '', variables = {}, context = {}, envelopeType } = input;
  const { provider, model, credentialRef, temperature, maxTokens, cachePrefixId } = input;
  const used = new Set<string>();
  const shown = (value: unknown): string => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return trust === 'untrusted' ? markUntrusted(text) : text;
  };
  const filled = (text: string): string =>
    text.replace(PLACEHOLDER, (whole, name: string) => {
      if (!Object.hasOwn(variables, name)) return whole;
      used.add(name);
      return shown(variables[name]);
    });
  const texts = [filled(systemPrompt), filled(userMessage)] as const;
  const rest = Object.entries(variables).filter(([name]) => !used.has(name));
  const facts = { ...context, ...(rest.length > 0 && { variables: Object.fromEntries(rest) }) };
  const message = [texts[1], Object.keys(facts).length > 0 ? shown(facts) : '']
    .filter((part) => part !== '')
    .join('\n\n');
  return {
    provider,
    model,
    credentialRef,
    cachePrefixId,
    ...given({ temperature, maxTokens }),
    systemPrompt: [texts[0], directive].filter((part) => part !== '').join('\n\n'),
    messages: [{ role: 'user', content: message || `Make the ${envelopeType}.` }],
  };
}
