/** The log of the process: no line has a secret that the process has opened, for whatever tenant, or its own. */

import { READABLE } from '@gantry/http';
import type { SecretValue } from '@gantry/protocol/redaction';
import { type DestinationStream, type Logger, pino } from 'pino';
import type { Settings } from '../settings.ts';
import type { Redactions } from './redactions.ts';

export function processLog(
  redactions: Redactions,
  settings: Pick<
    Settings,
    'logLevel' | 'masterKey' | 'masterKeyOld' | 'adminKey' | 'databaseUrl' | 'backends'
  >,
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

function secretsOf({
  masterKey,
  masterKeyOld,
  adminKey,
  databaseUrl,
  backends,
}: Pick<Settings, 'masterKey' | 'masterKeyOld' | 'adminKey' | 'databaseUrl' | 'backends'>): SecretValue[] {
  const passwords = [databaseUrl, ...Object.values(backends)].map(passwordIn);
  return [
    { value: masterKey, label: 'master-key' },
    { value: masterKeyOld, label: 'master-key' },
    { value: adminKey, label: 'admin-key' },
    ...passwords.map((value) => ({ value, label: 'password' })),
  ].filter((secret): secret is SecretValue => Boolean(secret.value));
}

const passwordIn = (text: unknown): string | undefined =>
  typeof text === 'string' && URL.canParse(text) ? decodeURIComponent(new URL(text).password) : undefined;
