/** Envelopes: validated alone, or received by the node of a run that is started for them. */

import {
  accept,
  type Counter,
  type CounterName,
  type Envelope,
  type Outcome,
  type Prior,
  type Receiver,
  UNIVERSAL_KINDS,
} from '@gantry/ai';
import type { Api, Caller } from '@gantry/http';
import { closedObject, invalid, optional, Values } from '@gantry/protocol';
import { createRedactor } from '@gantry/protocol/redaction';
import { systemCaller } from '@gantry/resources';
import type { RunKey } from '@gantry/store';
import Type, { type Static } from 'typebox';
import type { EnvelopeTasks } from '../../ai/conformance-envelope.ts';
import type { Envelopes, Received } from '../../ai/envelopes.ts';
import { a2uiSeams } from './a2ui.ts';
import { definition, node, seamId } from './definition.ts';
import type { Drive } from './drive.ts';
import { seam } from './seam.ts';
import { MAPPINGS } from './small-workflows.ts';

const Name = Type.String({ minLength: 1, maxLength: 256 });
const Names = Type.Array(Name);
const CounterShape = Type.Object({ current: Type.Integer(), cap: Type.Integer() });
const Project = Type.Object({
  runId: Name,
  nodeId: Name,
  refusalMode: optional(Type.Enum(['fail-node', 'discard-and-warn'])),
});
const Accept = Type.Object({
  envelope: Type.Unknown(),
  hostSupportedEnvelopes: optional(Names),
  nodeAllowedKinds: optional(Names),
  runTrustBoundary: optional(Type.Enum(['trusted', 'untrusted'])),
  counters: optional(Type.Record(Name, CounterShape)),
  schemaVersionFloor: optional(Type.Record(Name, Type.Integer())),
  envelopeStrictness: optional(Type.Enum(['warn', 'strict'])),
  byokCanaries: optional(Type.Array(Type.Object({ value: Type.String(), secretId: Name }))),
  priorCorrelations: optional(
    Type.Array(
      Type.Object({ correlationId: Name, outcome: Type.Unsafe<Outcome>(Values), envelopeType: Name }),
    ),
  ),
  persistedDedup: optional(Type.Object({ runId: Name })),
  approvalGateContext: optional(Type.Boolean()),
  boundInterruptKind: optional(Name),
  projectTo: optional(Project),
});
const Toggle = Type.Union([
  closedObject({ name: Name, value: Type.Union([Type.Boolean(), Type.Null()]) }),
  closedObject({ reset: Type.Literal(true) }),
]);
export interface EnvelopeSeamDeps {
  readonly envelopes: Envelopes;
  readonly tasks: EnvelopeTasks;
}

/** Runs that the suite names before they exist, by tenant and name. */
export type Aliases = Map<string, { readonly key: RunKey; readonly causationId: string }>;
export const aliasOf = (tenant: string, name: string): string => `${tenant}\0${name}`;
const ALIASES_MAX = 1_000;

const SUPPORTED = 'host.aiEnvelope.supported';

/** What the suite took away for a moment, by name. */
export type Toggles = Map<string, boolean>;
const TOGGLES = [SUPPORTED, ...MAPPINGS.keys()];

export function envelopeSeams(
  app: Api,
  drive: Drive,
  deps: EnvelopeSeamDeps,
  aliases: Aliases,
  overlay: Toggles,
): void {
  const kinds = new Map<string, Prior>();

  async function inRun(caller: Caller, body: AcceptBody, to: Static<typeof Project>): Promise<Outcome> {
    const { promise, resolve } = Promise.withResolvers<Received>();
    const { envelope, projectTo } = body;
    const receiver = receiverOf(body, overlay.get(SUPPORTED) ?? true);
    const task = deps.tasks.leave({
      envelope,
      receiver,
      ...(projectTo?.refusalMode && { refusalMode: projectTo.refusalMode }),
      done: resolve,
    });
    const key = await started(caller, to.nodeId, task);
    const { outcome, cause } = await promise;
    remember(aliases, aliasOf(caller.tenant, to.runId), { key, causationId: cause.causationId });
    await drive.atRest(key);
    await drive.close(key);
    return outcome;
  }

  const started = (caller: Caller, nodeId: string, task: string): Promise<RunKey> =>
    drive.start(caller, [
      definition(seamId('envelope'), [node(nodeId, 'conformance.envelope', { config: { task } })]),
    ]);

  /** Besides the conflicts that the caller lists, another kind under the same correlation is a conflict. */
  function judged({ tenant }: Caller, body: AcceptBody, receiver: Omit<Receiver, 'priorOf'>): Outcome {
    const { type, correlationId } = Object(body.envelope) as Partial<Envelope>;
    const name = aliasOf(tenant, String(correlationId));
    const before = kinds.get(name);
    const told = priorIn(body);
    const priorOf = (id: string) => told(id) ?? (before?.envelopeType === type ? undefined : before);
    const outcome = accept(body.envelope, { ...receiver, priorOf });
    if (!before && outcome.status === 'accepted')
      remember(kinds, name, { envelopeType: String(type), outcome });
    return outcome;
  }

  seam(app, 'envelope/accept', Accept, async (caller, body) => {
    const { envelope, persistedDedup, projectTo } = body;
    if (projectTo) return { ...(await inRun(caller, body, projectTo)) };
    const receiver = receiverOf(body, overlay.get(SUPPORTED) ?? true);
    if (!persistedDedup) return { ...judged(caller, body, receiver) };
    const system = systemCaller('conformance', caller);
    const at = { runId: persistedDedup.runId, nodeId: 'node', receiver };
    return { ...(await deps.envelopes.receive(system, envelope, at)).outcome };
  });

  resetSeams(app, overlay, [aliases, kinds]);

  a2uiSeams(app, drive, aliases, inRun);
}

/** Resets the toggles and the state kept between requests. */
function resetSeams(app: Api, overlay: Toggles, remembered: readonly Map<string, unknown>[]): void {
  seam(app, 'test/capability-toggle', Toggle, async (_caller, body) => {
    if ('reset' in body) overlay.clear();
    // The suite sends null to check whether this seam exists
    else if (body.value === null) overlay.delete(body.name);
    else if (TOGGLES.includes(body.name)) overlay.set(body.name, body.value);
    else throw invalid(`Only these can be toggled here: ${TOGGLES.join(', ')}.`);
    return { overlay: Object.fromEntries(overlay) };
  });

  seam(app, 'test/reset', Type.Object({}), async () => {
    for (const each of [overlay, ...remembered]) each.clear();
    return { ok: true };
  });
}

export type AcceptBody = Static<typeof Accept>;

function receiverOf(body: AcceptBody, isSupported: boolean): Omit<Receiver, 'priorOf'> {
  const { hostSupportedEnvelopes, nodeAllowedKinds, schemaVersionFloor, byokCanaries = [] } = body;
  const canaries = byokCanaries.map(({ value, secretId }) => ({ value, label: secretId }));
  return {
    isSupported,
    supported: hostSupportedEnvelopes ?? Object.keys(UNIVERSAL_KINDS),
    ...(nodeAllowedKinds && { accepts: nodeAllowedKinds }),
    versions: schemaVersionFloor ?? {},
    strictness: body.envelopeStrictness ?? 'warn',
    counters: (body.counters ?? {}) as Partial<Record<CounterName, Counter>>,
    redactor: createRedactor(canaries),
    trust: body.runTrustBoundary ?? 'trusted',
    isApproval: body.approvalGateContext ?? body.boundInterruptKind === 'approval',
  };
}

/** The caller lists the earlier envelopes. */
function priorIn({ priorCorrelations = [] }: AcceptBody): Receiver['priorOf'] {
  return (correlationId) => {
    const prior = priorCorrelations.find((each) => each.correlationId === correlationId);
    return prior && { envelopeType: prior.envelopeType, outcome: prior.outcome };
  };
}

export function remember<T>(kept: Map<string, T>, name: string, value: T): void {
  kept.set(name, value);
  const [oldest] = kept.keys();
  if (kept.size > ALIASES_MAX && oldest !== undefined) kept.delete(oldest);
}
