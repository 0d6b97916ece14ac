/** Surfaces described by a model: a node of a run receives them, and they are read back in full. */
import { randomUUID } from 'node:crypto';
import { A2UI_KIND, type Outcome } from '@gantry/ai';
import { type Api, type Caller, callerOf } from '@gantry/http';
import { closedObject, invalid, type JsonObject, OpenwopError, Values } from '@gantry/protocol';
import Type from 'typebox';
import type { Drive } from './drive.ts';
import { type AcceptBody, type Aliases, aliasOf } from './envelopes.ts';
import { seam, seamAt } from './seam.ts';

const Name = Type.String({ minLength: 1, maxLength: 256 });
const EmitSurface = Type.Object({ runId: Name, surface: Values });

type InRun = (
  caller: Caller,
  body: AcceptBody,
  to: { readonly runId: string; readonly nodeId: string },
) => Promise<Outcome>;

export function a2uiSeams(app: Api, drive: Drive, aliases: Aliases, inRun: InRun): void {
  /** A node of a run receives the surface, as from a model; the log of the run has it in full. */
  seam(app, 'a2ui/emit-surface', EmitSurface, async (caller, { runId, surface: payload }) => {
    const surfaceRef = `${runId}:surface`;
    const meta = { source: 'ai-generation', ts: new Date().toISOString() };
    const ids = { envelopeId: randomUUID(), correlationId: randomUUID() };
    const envelope = { type: A2UI_KIND, ...ids, payload, meta };
    const body = { envelope, hostSupportedEnvelopes: [A2UI_KIND] };
    const outcome = await inRun(caller, body, { runId, nodeId: 'surface' });
    if (outcome.status === 'accepted') return { surfaceRef };
    const problems = outcome.status === 'invalid' ? outcome.details.map((fault) => ({ ...fault })) : [];
    throw invalid(outcome.reason, { problems });
  });

  const schema = { querystring: closedObject({ runId: Name }), response: { 200: Values } };
  app.get(...seamAt('GET a2ui/materialized', schema), async (request) => {
    const { tenant } = callerOf(request);
    const { runId } = request.query;
    const events = await drive.events(aliases.get(aliasOf(tenant, runId))?.key ?? { tenant, runId });
    const surfaces = events.map(({ payload }) => payload.data).filter(isSurface);
    const surface = surfaces.at(-1)?.payload;
    if (surface === undefined) throw new OpenwopError('not_found');
    return { surfaceRef: `${runId}:surface`, surface };
  });
}

const isSurface = (data: unknown): data is JsonObject => Object(data).type === A2UI_KIND;
