/**
 * `ctx.aiEnvelope.await`: a node waits for an envelope of its run.
 *
 * I1  An envelope is taken by one wait; taking it and recording the call are one commit.
 * I2  An envelope accepted after the node has looked, and before it waits, makes it look again: `seen`.
 */
import { completed } from '@gantry/ai';
import { type Json, type JsonObject, OpenwopError } from '@gantry/protocol';
import type { NodeWaits } from '@gantry/surfaces';
import { type AskingNode, nodeCaller } from './ai.ts';
import { ENVELOPE_KEY, type EnvelopeDeps } from './envelope-turns.ts';
import { ENVELOPE_LIMITS, type Envelopes, runReceiver } from './envelopes.ts';

export interface AwaitDeps extends Pick<EnvelopeDeps, 'redactions' | 'now'> {
  readonly envelopes: Envelopes;
}

export interface Awaiting {
  readonly node: AskingNode;
  readonly waits: NodeWaits;
  /** Number of the call among those of the node. */
  readonly ordinal: number;
  readonly envelopeType: string;
  readonly timeoutMs: number;
}

interface Awaited {
  readonly envelopeType: string;
  readonly payload?: Json;
  readonly envelopeId?: string;
  readonly timedOut?: boolean;
}

/** The node stopped, or stops now, at the first question without an answer. */
export async function awaited(deps: AwaitDeps, awaiting: Awaiting): Promise<Awaited> {
  const { node, waits, ordinal, envelopeType, timeoutMs } = awaiting;
  let leftMs = timeoutMs;
  for (let [round, invalid] = [0, 0]; ; round++) {
    const key = `${ENVELOPE_KEY}await:${ordinal}:${round}`;
    const answer = waits.answerOf(key) as JsonObject | undefined;
    if (answer === undefined) {
      // Before looking: I2
      const seen = node.run.envelopes();
      const caller = nodeCaller(node, ordinal, 'aiEnvelope.await');
      const taken = await deps.envelopes.take(caller, node.runId, envelopeType);
      if (taken) return taken;
      return waits.wait({ suspend: { key, request: { timeoutMs: leftMs }, awaits: { envelopeType, seen } } });
    }
    if (answer.timedOut === true) return { envelopeType, timedOut: true };
    if (typeof answer.leftMs === 'number') leftMs = Math.min(leftMs, answer.leftMs);
    if (answer.payload === undefined) continue;
    const sent = await receiveSent(deps, awaiting, round, answer);
    if (sent) return sent;
    if (++invalid > ENVELOPE_LIMITS.schemaRounds) throw new OpenwopError('envelope_validation_failed');
  }
}

/** Receives the answer to the interrupt. Null when it is not valid: the node waits again. */
async function receiveSent(
  { envelopes, redactions, now }: AwaitDeps,
  { node, ordinal, envelopeType: type }: Awaiting,
  round: number,
  { payload, envelopeId, correlationId }: JsonObject,
): Promise<Awaited | null> {
  const { runId, nodeId, owner } = node;
  const caller = nodeCaller(node, ordinal, `aiEnvelope.await\0${round}`);
  const own = { envelopeId, correlationId };
  const given = Object.fromEntries(Object.entries(own).filter(([, value]) => typeof value === 'string'));
  const document = completed(
    { type, payload, ...given, meta: { source: 'user' } },
    { runId, nodeId, envelopeId: `env_${caller.call.invocationId.slice(0, 32)}`, at: now() },
  );
  const receiver = runReceiver({
    envelopeType: type,
    counts: {},
    redactor: redactions.of(owner.tenant),
    trust: node.run.trust,
  });
  const { outcome } = await envelopes.receive(caller, document, {
    runId,
    nodeId,
    receiver,
    isTaken: true,
    refusalMode: 'discard-and-warn',
  });
  if (outcome.status !== 'accepted') return null;
  return { envelopeType: type, payload: outcome.redactedPayload, envelopeId: outcome.envelopeId };
}
