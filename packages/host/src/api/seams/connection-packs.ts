/** Connection packs: installed from a manifest alone, then asked what production asks. */
import { type Api, callerOf } from '@gantry/http';
import { archiveOf } from '@gantry/packs';
import { OpenwopError } from '@gantry/protocol';
import Type, { type Static } from 'typebox';
import { Connections } from '../../packs/connections/connections.ts';
import { consentPlan, egressVerdict, type Resolution } from '../../packs/connections/provider.ts';
import type { PackService } from '../../packs/pack-service.ts';
import type { Packs } from '../../packs/packs.ts';

const URL = '/v1/host/sample/connection-packs';
const Word = Type.String({ minLength: 1, maxLength: 256 });
const Code = Type.Optional(Type.String());
const about = { provider: Word };

const INSTALL = {
  summary: 'Install a connection pack from its manifest',
  body: Type.Object({ manifest: Type.Record(Type.String(), Type.Unknown()) }),
  response: {
    200: Type.Object({
      installed: Type.Boolean(),
      errors: Type.Array(Type.Object({ code: Type.String(), path: Code, message: Type.String() })),
    }),
  },
};
const RESOLVE = {
  summary: 'Say who describes a provider',
  body: Type.Object({
    ...about,
    simulateBuiltinVersion: Type.Optional(Type.String({ maxLength: 128, pattern: '^\\d+\\.\\d+\\.\\d+' })),
  }),
  response: {
    200: Type.Object({ resolved: Type.Boolean(), source: Code, version: Code, code: Code }),
  },
};
const CONSENT_PLAN = {
  summary: 'Say what people are asked to consent to',
  body: Type.Object({ ...about, requested: Type.Array(Type.Enum(['read', 'write']), { maxItems: 2 }) }),
  response: {
    200: Type.Object({ steps: Type.Array(Type.Record(Type.String(), Type.Unknown())) }),
  },
};
const EGRESS_CHECK = {
  summary: 'Say whether credentials of a provider may go to a host',
  body: Type.Object({ ...about, requestHost: Word }),
  response: { 200: Type.Object({ allowed: Type.Boolean(), code: Code }) },
};

export function connectionPackSeams(
  app: Api,
  { service, records }: Pick<Packs, 'service' | 'records'>,
): void {
  const connections = new Connections(records);

  app.post(`${URL}/install`, { schema: INSTALL }, async (request) => {
    try {
      await install(service, request.body.manifest, callerOf(request));
      return { installed: true, errors: [] };
    } catch (error) {
      if (!(error instanceof OpenwopError)) throw error;
      return { installed: false, errors: reasonsOf(error) };
    }
  });

  app.post(`${URL}/resolve`, { schema: RESOLVE }, async (request) => {
    const { provider, simulateBuiltinVersion } = request.body;
    return described(await connections.resolve(callerOf(request).tenant, provider, simulateBuiltinVersion));
  });

  app.post(`${URL}/consent-plan`, { schema: CONSENT_PLAN }, async (request) => {
    const provider = await connections.provider(callerOf(request).tenant, request.body.provider);
    const requested = request.body.requested.map((access) => (access === 'write' ? 'write' : 'read'));
    return { steps: consentPlan(provider, requested) };
  });

  app.post(`${URL}/egress-check`, { schema: EGRESS_CHECK }, async (request) => {
    const resolution = await connections.resolve(callerOf(request).tenant, request.body.provider);
    if (resolution.source !== 'pack') return { allowed: false, code: described(resolution).code };
    return egressVerdict(resolution.installed.provider, request.body.requestHost);
  });
}

/** The suite installs other content under the same version, as development does. */
async function install(
  service: PackService,
  manifest: Static<(typeof INSTALL)['body']>['manifest'],
  { tenant, keyId }: { tenant: string; keyId: string },
): Promise<void> {
  if (manifest.kind !== 'connection') throw new OpenwopError('pack_kind_invalid');
  const { bytes } = await archiveOf(new Map([['pack.json', Buffer.from(JSON.stringify(manifest))]]));
  const request = { tenant, archive: bytes, source: 'archive', development: true } as const;
  await service.install({ ...request, grant: [], by: keyId });
}

interface Reason {
  readonly code: string;
  readonly path?: string;
  readonly message: string;
}

function reasonsOf({ code, message, details }: OpenwopError): Reason[] {
  const issues = details?.issues;
  if (!Array.isArray(issues)) return [{ code, message }];
  return issues.map((issue) => {
    const { code: own = code, path = '', message: text = message } = Object(issue);
    return { code: String(own), path: String(path), message: String(text) };
  });
}

function described(resolution: Resolution) {
  if (resolution.source === 'none') return { resolved: false, code: resolution.code };
  const { source } = resolution;
  const { version } = source === 'pack' ? resolution.installed : resolution;
  return { resolved: true, source, version };
}
