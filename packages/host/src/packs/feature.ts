import { KNOWN_PROVIDERS } from '@gantry/ai';
import type { ModelGate } from '../ai/model-gate.ts';
import type { Providers } from '../ai/providers/providers.ts';
import { artifactSchemaRoute } from '../api/artifact-schemas.ts';
import { sandboxRoutes } from '../api/operator.ts';
import { packRoutes } from '../api/packs.ts';
import type { Credentials } from '../credentials/credentials.ts';
import { feature } from '../feature.ts';
import type { OAuth } from '../oauth/oauth.ts';
import type { Parts } from '../parts.ts';
import { ACTION_RATE } from './action-rate.ts';
import { nodeSecrets } from './node-controls/node-secrets.ts';
import { packBytes, packGrants, packSets, packs, packVersions } from './pack-record.ts';
import { PackRecords } from './pack-records.ts';
import { createPacks, type PacksOptions } from './packs.ts';
import { receipts } from './receipts.ts';
import { keptPlans } from './settings-packs.ts';

export const packRecordsFeature = feature({
  name: 'packRecords',
  kinds: [packs, packGrants, packVersions, packBytes, packSets],
  open: ({ store }: Pick<Parts, 'store'>) => new PackRecords(store),
  routes: (app, records) => artifactSchemaRoute(app, records),
});

interface Needs extends Omit<PacksOptions, 'records' | 'secrets' | 'models' | 'modelGate'> {
  readonly packRecords: PackRecords;
  readonly credentials: Credentials;
  readonly oauth: Pick<OAuth, 'nodes'>;
  readonly providers: Providers;
  readonly ai: { readonly modelGate: ModelGate };
}

const AI_PROVIDERS = KNOWN_PROVIDERS.map(({ id }) => id);

export const packsFeature = feature({
  name: 'packs',
  kinds: [receipts, keptPlans, ACTION_RATE],
  async open({ packRecords: records, credentials, oauth, providers, ai, ...parts }: Needs) {
    const secrets = nodeSecrets({ credentials, connections: oauth.nodes, aiProviders: AI_PROVIDERS });
    const models = () => providers.peers(parts.settings.testSeams);
    const opened = createPacks({ ...parts, records, secrets, models, modelGate: ai.modelGate });
    // Workflows that are loaded next may use the packs of the settings
    await opened.prepare();
    return opened;
  },
  routes(app, { service, sandboxes }, { idempotency }) {
    packRoutes(app, service, idempotency);
    sandboxRoutes(app, sandboxes);
  },
});
