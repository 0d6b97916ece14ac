/** The result of the install gate for a manifest and a set of grants that the suite sends. */
import type { Api } from '@gantry/http';
import { judgeInstall, RUNTIME_REQUIREMENTS, readManifest, refusalError, requiresOf } from '@gantry/packs';
import { OpenwopError } from '@gantry/protocol';
import Type from 'typebox';
import type { Packs } from '../../packs/packs.ts';
import { seamAt } from './seam.ts';

const Gate = Type.Object({
  manifest: Type.Record(Type.String(), Type.Unknown()),
  grantSet: Type.Optional(Type.Array(Type.String({ maxLength: 128 }), { maxItems: 50 })),
  gating: Type.Optional(Type.Boolean()),
});
const Installed = Type.Object({
  outcome: Type.Literal('installed'),
  requiresProjected: Type.Optional(Type.Array(Type.String())),
});
const Refused = Type.Object({
  error: Type.String(),
  message: Type.String(),
  unmet: Type.Optional(Type.Array(Type.String())),
  manifest: Type.Optional(Type.String()),
});

export function installGateSeam(app: Api, { offer }: Pick<Packs, 'offer'>): void {
  const schema = { body: Gate, response: { 200: Installed, 400: Refused } };
  app.post(...seamAt('packs/install-gate', schema), async (request) => {
    const { manifest: given, grantSet = [], gating = true } = request.body;
    const reading = readManifest(JSON.stringify(given));
    if (reading.kind === 'refused') {
      const [first] = reading.issues;
      throw new OpenwopError(first?.code ?? 'invalid_manifest', { message: first?.message ?? '' });
    }
    const { manifest } = reading;
    const grants = gating ? grantSet : RUNTIME_REQUIREMENTS;
    const judgement = judgeInstall(manifest, { ...(await offer(manifest)), grants });
    if (judgement.installable)
      return gating
        ? { outcome: 'installed' }
        : { outcome: 'installed', requiresProjected: [...requiresOf(manifest)] };
    const [first, ...others] = judgement.refusals;
    throw first ? refusalError([first, ...others]) : new Error('a refusal has a reason');
  });
}
