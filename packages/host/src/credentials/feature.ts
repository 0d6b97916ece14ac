import { randomUUID } from 'node:crypto';
import { actsWire, credentialsWire } from '@gantry/protocol';
import { feature } from '../feature.ts';
import type { OAuth } from '../oauth/oauth.ts';
import type { Settings } from '../settings.ts';
import { acts } from './act.ts';
import { secretEcho } from './conformance-secret.ts';
import { credentials } from './credential.ts';
import { type CredentialsOptions, createCredentials } from './credentials.ts';
import { externalStores } from './external-stores.ts';
import { secretsGiven } from './reveal.ts';

interface Needs extends Omit<CredentialsOptions, 'tokens' | 'stores'> {
  readonly settings: Pick<
    Settings,
    'secretVariables' | 'aiKeys' | 'secretsDir' | 'testSeams' | 'canarySecret'
  >;
  readonly oauth: Pick<OAuth, 'tokens'>;
}

export const credentialsFeature = feature({
  name: 'credentials',
  kinds: [credentials, acts, secretsGiven],
  open({ settings, oauth, ...parts }: Needs) {
    const variables = [...settings.secretVariables, ...settings.aiKeys];
    const stores = externalStores({ variables, folder: settings.secretsDir });
    const made = createCredentials({ ...parts, stores, tokens: oauth.tokens });
    return { ...made, canary: canaryOf(settings) };
  },
  resources: ({ service, acts: done }) => [
    [credentialsWire, service],
    [actsWire, done],
  ],
  executors: (service) => ({ 'conformance.secret.echo': secretEcho(service, service.canary) }),
});

/** The operator may set a value that the suite knows; otherwise it is random. */
const canaryOf = ({ testSeams, canarySecret }: Needs['settings']): string | undefined =>
  testSeams ? (canarySecret ?? `CANARY-CONFORMANCE-SECRET-${randomUUID()}`) : undefined;
