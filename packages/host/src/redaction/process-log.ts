/** The log of the process. No line contains a secret of the host, or one that the process has opened for any tenant. */

import { READABLE } from '@gantry/http';
import type { SecretValue } from '@gantry/protocol/redaction';
import { type DestinationStream, type Logger, pino } from 'pino';
import type { Settings } from '../settings.ts';
import type { Redactions } from './redactions.ts';

type SecretSettings = Pick<
  Settings,
  'masterKey' | 'masterKeyOld' | 'adminKey' | 'registryKey' | 'databaseUrl' | 'backends'
>;

export function processLog(
  redactions: Redactions,
  settings: SecretSettings & Pick<Settings, 'logLevel'>,
  destination?: DestinationStream,
): Logger {
  for (const { value, label } of secretsOf(settings)) redactions.noteOwn(value, label);
  const options = {
    level: settings.logLevel,
    base: null,
    ...READABLE,
    hooks: { streamWrite: (line: string) => redactions.all.redact(line) },
  };
  return destination ? pino(options, destination) : pino(options);
}

function secretsOf({ databaseUrl, backends, ...keys }: SecretSettings): SecretValue[] {
  const passwords = [databaseUrl, ...Object.values(backends)].map(passwordIn);
  return [
    { value: keys.masterKey, label: 'master-key' },
    { value: keys.masterKeyOld, label: 'master-key' },
    { value: keys.adminKey, label: 'admin-key' },
    { value: keys.registryKey, label: 'registry-key' },
    ...passwords.map((value) => ({ value, label: 'password' })),
  ].filter((secret): secret is SecretValue => Boolean(secret.value));
}

const passwordIn = (text: unknown): string | undefined =>
  typeof text === 'string' && URL.canParse(text) ? decodeURIComponent(new URL(text).password) : undefined;
