import type { Json } from '@gantry/protocol';
import { isObject } from '../json.ts';
import type { Findings } from './issue.ts';
import { pointer } from './json-source.ts';

const SECRET_NAMES = new Set(
  [
    'clientSecret',
    'client_secret',
    'apiKey',
    'api_key',
    'token',
    'accessToken',
    'refreshToken',
    'password',
    'privateKey',
    'secret',
  ].map((name) => name.toLowerCase()),
);

/** The address of an endpoint, the one member that is called so and is no secret. */
const EXEMPT = '/provider/auth/endpoints/token';

/** Finds members of a connection pack that are named like secrets, at any depth, before any schema looks. */
export function scanForCredentials(value: Json, findings: Findings, at = ''): void {
  if (Array.isArray(value))
    value.forEach((item, index) => {
      scanForCredentials(item, findings, pointer(at, index));
    });
  if (!isObject(value)) return;
  for (const [key, item] of Object.entries(value)) {
    const path = pointer(at, key);
    if (SECRET_NAMES.has(key.toLowerCase()) && path !== EXEMPT)
      findings.refuse(path, 'Packs never carry secrets.', 'connection_pack_credential_material');
    scanForCredentials(item, findings, path);
  }
}
