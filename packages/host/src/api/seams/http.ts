/** `ctx.http.safeFetch` as for nodes: alone, with its two events, and in a run. */
import { createEgress, PUBLIC_POLICY } from '@gantry/egress';
import type { Api } from '@gantry/http';
import { type EmittedEvent, type JsonObject, OpenwopError, Values } from '@gantry/protocol';
import { createCallGate, implementHttp } from '@gantry/surfaces';
import Type from 'typebox';
import type { Packs } from '../../packs/packs.ts';
import type { Surfaces } from '../../surfaces/surfaces.ts';
import { nodeMembers } from '../../surfaces/surfaces.ts';
import type { ApiDeps } from '../context.ts';
import { definition, node, seamIdFor } from './definition.ts';
import type { Drive } from './drive.ts';
import { install } from './install.ts';
import { seam } from './seam.ts';
import { membersOutside } from './surfaces/outside-runs.ts';

const Fetch = Type.Object({
  url: Type.String({ maxLength: 8_192 }),
  init: Type.Optional(Values),
  simulateRebindTo: Type.Optional(Type.String({ maxLength: 64 })),
});

const CALL_MS_MAX = 30_000;

export function httpSeams(app: Api, deps: ApiDeps, surfaces: Surfaces, packs: Packs, drive: Drive): void {
  seam(app, 'http/safe-fetch', Fetch, async ({ tenant, principal }, body) => {
    const { url, init = {}, simulateRebindTo: rebound } = body;
    const egress =
      rebound === undefined
        ? undefined
        : createEgress({ policy: PUBLIC_POLICY, lookup: async () => [rebound] });
    const gate = egress && createCallGate({ surfaces: [implementHttp(egress)], now: deps.now, onCall() {} });
    const membersFor = gate ? nodeMembers(gate, surfaces.tools) : surfaces.membersFor;
    const told: EmittedEvent[] = [];
    const signal = AbortSignal.timeout(CALL_MS_MAX);
    const { call } = membersOutside(deps, { membersFor }, told)({ tenant, principal }, signal);
    const io = { dispatch: 0, ordinal: 0, signal, send: async () => {} };
    const ended = await call('http.safeFetch', [url, init as JsonObject], io).then(
      (answer) => ({ outcome: 'fetched', status: (answer as { status: number }).status }) as const,
      refusalOf,
    );
    egress?.close();
    return { ...ended, ...pairOf(told) };
  });
  seam(app, 'http/safe-fetch-run', Fetch, async (caller, { url, init = {} }) => {
    await install(packs.service, caller, MANIFEST, { 'index.mjs': CODE });
    const config = { url, init: init as JsonObject };
    const id = seamIdFor('safe-fetch', config);
    const key = await drive.start(caller, [definition(id, [node('fetch', TYPE, { config })])]);
    const { snapshot } = await drive.atRest(key);
    return { runId: key.runId, outcome: String(snapshot.outputs?.outcome ?? 'failed') };
  });
}

function refusalOf(error: unknown): object {
  if (!(error instanceof OpenwopError)) throw error;
  if (error.code !== 'ssrf_blocked') return { outcome: 'failed' };
  const isUpgrade = error.details?.reason === 'upgrade_not_allowed';
  return { outcome: 'blocked', blocked: isUpgrade ? 'upgrade' : 'ssrf' };
}

/** The payloads of the first pair. */
export function pairOf(told: readonly EmittedEvent[]): Record<'toolCalled' | 'toolReturned', JsonObject> {
  const payloadOf = (type: string) => told.find((event) => event.type === type)?.payload ?? {};
  return { toolCalled: payloadOf('agent.toolCalled'), toolReturned: payloadOf('agent.toolReturned') };
}

const NAME = 'vendor.gantry.safe-fetch-probe';
const TYPE = `${NAME}.fetch`;

const MANIFEST = {
  name: NAME,
  version: '1.0.0',
  engines: { openwop: '>=1.0.0 <2.0.0' },
  nodes: [{ typeId: TYPE, version: '1.0.0', category: 'integration', role: 'side-effect' }],
  peerDependencies: { 'host.httpClient': 'supported' },
  runtime: { language: 'javascript', entry: './index.mjs', format: 'esm' },
};

const CODE = `export const nodes = {
  '${TYPE}': async ({ config, http }) => {
    try {
      const { status } = await http.safeFetch(config.url, config.init);
      return { status: 'success', outputs: { outcome: 'fetched', status } };
    } catch ({ code }) {
      return { status: 'success', outputs: { outcome: code === 'ssrf_blocked' ? 'blocked' : 'failed' } };
    }
  },
};
`;
