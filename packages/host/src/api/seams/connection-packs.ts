/** Connection packs: installed from a manifest alone, then used as in production. */
import type { Api } from '@gantry/http';
import { OpenwopError, Values } from '@gantry/protocol';
import Type from 'typebox';
import { packConnections } from '../../packs/connections/connections.ts';
import { consentPlan, egressVerdict, type Resolution } from '../../packs/connections/provider.ts';
import type { Packs } from '../../packs/packs.ts';
import { install } from './install.ts';
import { seam } from './seam.ts';

const Word = Type.String({ minLength: 1, maxLength: 256 });
const about = { provider: Word };

const Install = Type.Object({ manifest: Values });
const Resolve = Type.Object({
  ...about,
  simulateBuiltinVersion: Type.Optional(Type.String({ maxLength: 128, pattern: '^\\d+\\.\\d+\\.\\d+' })),
});
const Consent = Type.Object({
  ...about,
  requested: Type.Array(Type.Enum(['read', 'write']), { maxItems: 2 }),
});
const Check = Type.Object({ ...about, requestHost: Word });

export function connectionPackSeams(
  app: Api,
  { service, records }: Pick<Packs, 'service' | 'records'>,
): void {
  const connections = packConnections(records);

  seam(app, 'connection-packs/install', Install, async (caller, { manifest }) => {
    try {
      if (manifest.kind !== 'connection') throw new OpenwopError('pack_kind_invalid');
      // The suite sends unsigned packs of the scope core
      await install(service, caller, manifest, {}, true);
      return { installed: true, errors: [] };
    } catch (error) {
      if (!(error instanceof OpenwopError)) throw error;
      return { installed: false, errors: reasonsOf(error) };
    }
  });
  seam(app, 'connection-packs/resolve', Resolve, async ({ tenant }, body) =>
    described(await connections.resolve(tenant, body.provider, body.simulateBuiltinVersion)),
  );
  seam(app, 'connection-packs/consent-plan', Consent, async ({ tenant }, body) => {
    const provider = await connections.provider(tenant, body.provider);
    const requested = body.requested.map((access) => (access === 'write' ? 'write' : 'read'));
    return { steps: consentPlan(provider, requested).map((step) => ({ ...step })) };
  });
  seam(app, 'connection-packs/egress-check', Check, async ({ tenant }, body) => {
    const resolution = await connections.resolve(tenant, body.provider);
    if (resolution.source === 'pack') return egressVerdict(resolution.installed.provider, body.requestHost);
    return { allowed: false, ...(resolution.source === 'none' && { code: resolution.code }) };
  });
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
