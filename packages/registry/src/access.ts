/** Access rules of the registry's routes. */
import { type AccessRules, type Caller, type HOST_ADMIN, liveTenant } from '@gantry/http';
import { OpenwopError, type Scope } from '@gantry/protocol';
import type { CatalogueName } from './catalogue/catalogue.ts';

/** The same rules for both catalogues. A key shows the private packs of its tenant. */
const packRules = (catalogue: CatalogueName): AccessRules => ({
  [`GET /v1/${catalogue}/{name}`]: 'optional',
  [`GET /v1/${catalogue}/{name}/index.json`]: 'optional',
  [`GET /v1/${catalogue}/{name}/-/{version}.tgz`]: 'optional',
  [`GET /v1/${catalogue}/{name}/-/{version}.json`]: 'optional',
  [`GET /v1/${catalogue}/{name}/-/{version}.sig`]: 'optional',
  // Any key: the route checks the scope itself, after the address, in the order that the protocol defines.
  [`PUT /v1/${catalogue}/{name}/-/{version}.tgz`]: [],
  [`PUT /v1/${catalogue}/{name}/-/{version}`]: [],
  [`DELETE /v1/${catalogue}/{name}/-/{version}`]: ['packs:publish'],
  [`POST /v1/${catalogue}/{name}/-/{version}/deprecate`]: ['packs:publish'],
  [`DELETE /v1/${catalogue}/{name}/-/{version}/deprecate`]: ['packs:publish'],
  [`POST /v1/${catalogue}/{name}/-/{version}/yank`]: ['packs:yank'],
  [`DELETE /v1/${catalogue}/{name}/-/{version}/yank`]: ['packs:yank-revert'],
});

export const PACK_ACCESS: AccessRules = {
  ...packRules('packs'),
  ...packRules('packs-test'),
  'POST /v1/packs-test/-/reset': ['packs:publish'],
  'GET /v1/packs/{name}/-/keychain': 'optional',
  'POST /v1/packs/{name}/-/keychain/rotate': ['packs:publish'],
  'GET /keys/{keyId}.pub': 'optional',
  'GET /v1/host/gantry/registry/claims': ['packs:publish'],
  'POST /v1/host/gantry/registry/claims': ['packs:publish'],
  'DELETE /v1/host/gantry/registry/claims/{namespace}': ['packs:publish'],
};

/** For routes that check their address before the scope. */
export function refuseMissingScope({ scopes }: Caller, scope: Scope | typeof HOST_ADMIN): void {
  if (!scopes.has(scope)) throw new OpenwopError('forbidden', { details: { scopeRequired: scope } });
}

/** Test keys change only the test catalogue. */
export function refuseTestKey(catalogue: CatalogueName, { tenant }: Caller): void {
  if (catalogue === 'packs-test' || liveTenant(tenant) === tenant) return;
  throw new OpenwopError('forbidden', {
    message: 'A test key works only in the test namespace. Use a live key.',
  });
}
