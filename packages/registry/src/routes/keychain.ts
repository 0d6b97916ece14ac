/** Claims of namespaces, and their keys. */
import { type Api, type Caller, callerOf, HOST_ADMIN, liveTenant } from '@gantry/http';
import { type Keychain, readPublicKey } from '@gantry/packs';
import { closedObject, given, isoTime, OpenwopError } from '@gantry/protocol';
import Type, { type Static } from 'typebox';
import { refuseTestKey } from '../access.ts';
import type { Reader, ReaderOf } from '../catalogue/reader.ts';
import { documentOf, sendDocument } from '../derived/document.ts';
import type { Claim } from '../keychain/claim.ts';
import type { Claims } from '../keychain/claims.ts';
import { checkName } from '../publish/address.ts';
import { NameParams } from './pack-metadata.ts';

const CLAIMS_URL = '/v1/host/gantry/registry/claims';
const KEYCHAIN_URL = '/v1/packs/:name/-/keychain';
const KEY_SECONDS = 86_400;

const KeyId = Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$' });
const PublicKey = Type.String({ minLength: 1, maxLength: 4_096 });
const Time = Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,9})?Z$' });
const Tenant = Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$' });

const Rotation = closedObject({
  kid: KeyId,
  algorithm: Type.Literal('ed25519'),
  publicKey: PublicKey,
  validFrom: Time,
  validUntil: Type.Optional(Time),
  rotationProof: Type.String({ minLength: 1, maxLength: 256 }),
});
const ClaimBody = closedObject({
  namespace: Type.String({ minLength: 1, maxLength: 256 }),
  /** A tenant: the caller's own, unless an operator names another. */
  owner: Type.Optional(Tenant),
  publishers: Type.Optional(Type.Array(Tenant, { maxItems: 100, uniqueItems: true })),
  contact: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
  signingKey: Type.Optional(
    closedObject({
      keyId: KeyId,
      publicKey: PublicKey,
      validFrom: Type.Optional(Time),
      validUntil: Type.Optional(Time),
    }),
  ),
});
type ClaimBody = Static<typeof ClaimBody>;
const NamespaceParams = Type.Object({ namespace: Type.String({ minLength: 1, maxLength: 256 }) });

interface KeychainDeps {
  readonly claims: Claims;
  readonly now: () => number;
  readonly readerOf: ReaderOf;
  /** Whether anything is published under it. */
  readonly isUsed: (claim: Claim) => boolean;
}

export function keychainRoutes(app: Api, deps: KeychainDeps): void {
  const { claims, readerOf } = deps;
  claimRoutes(app, deps);
  app.get(
    KEYCHAIN_URL,
    { schema: { summary: 'The signing keys of a pack, past and present', params: NameParams } },
    async (request, reply) =>
      sendDocument(request, reply, documentOf(keychainOf(claims, request.params.name, readerOf(request)))),
  );

  const rotate = {
    summary: 'Rotate to a new key, with a proof signed by the current one',
    params: NameParams,
    body: Rotation,
  };
  app.post(`${KEYCHAIN_URL}/rotate`, { schema: rotate }, async (request) => {
    const { name } = request.params;
    const caller = callerOf(request);
    checkName(name);
    refuseTestKey('packs', caller);
    if (!isOperator(caller)) claims.refuseOutside(name, caller.tenant);
    await claims.rotate(name, request.body, caller.keyId);
    return keychainOf(claims, name, readerOf(request));
  });

  const keyParams = Type.Object({ keyId: Type.String({ maxLength: 256 }) });
  const key = { summary: 'A public key, in PEM', params: keyParams };
  app.get('/keys/:keyId.pub', { schema: key }, async (request, reply) => {
    const found = claims.keyOf(request.params.keyId);
    const isSeen = found !== undefined && readerOf(request).sees(found.namespace);
    const pem = isSeen ? readPublicKey(found.publicKey)?.export({ type: 'spki', format: 'pem' }) : undefined;
    if (pem === undefined) throw new OpenwopError('not_found', { message: 'There is no key with this id.' });
    return reply
      .type('application/x-pem-file')
      .header('access-control-allow-origin', '*')
      .header('cache-control', `public, max-age=${KEY_SECONDS}`)
      .send(pem);
  });
}

const isOperator = ({ scopes }: Caller): boolean => scopes.has(HOST_ADMIN);

function keychainOf(claims: Claims, name: string, reader: Reader): Keychain {
  checkName(name);
  const keychain = reader.sees(name) ? claims.keychainOf(name) : undefined;
  if (keychain === undefined) throw new OpenwopError('not_found', { message: `${name} has no keychain.` });
  return { namespace: keychain.namespace, keys: keychain.keys };
}

function claimRoutes(app: Api, deps: KeychainDeps): void {
  const { claims } = deps;
  const drop = { summary: 'Drop a claim under which nothing is published', params: NamespaceParams };
  app.delete(`${CLAIMS_URL}/:namespace`, { schema: drop }, async (request) => {
    const caller = callerOf(request);
    if (!isOperator(caller)) throw operatorOnly('Only an operator of the registry may drop a claim.');
    return claims.drop(request.params.namespace, caller.keyId, deps.isUsed);
  });
  const list = {
    summary: 'The claims of this tenant; an operator sees all',
    response: { 200: Type.Object({ claims: Type.Array(Type.Unknown()) }) },
  };
  app.get(CLAIMS_URL, { schema: list }, async (request) => {
    const caller = callerOf(request);
    const visible = (claim: Claim): boolean => isOperator(caller) || claim.owner === caller.tenant;
    return { claims: claims.all().filter(visible) };
  });

  const create = { summary: 'Claim a namespace, with the key that signs for it', body: ClaimBody };
  app.post(CLAIMS_URL, { schema: create }, async (request, reply) => {
    const caller = callerOf(request);
    refuseTestKey('packs', caller);
    const { body } = request;
    refuseForeign(caller, body);
    const { outcome, claim } = await claims.claim(claimRequest(caller, body, deps.now()), {
      keyId: caller.keyId,
      isOperator: isOperator(caller),
    });
    return reply.code(outcome === 'created' ? 201 : 200).send(claim);
  });
}

/** Only operators claim for other tenants, or names of the scope core. */
function refuseForeign(caller: Caller, { namespace, owner }: ClaimBody): void {
  const isOwn = owner === undefined || owner === caller.tenant;
  if (isOperator(caller) || (isOwn && !namespace.startsWith('core.'))) return;
  throw operatorOnly(
    'Only an operator of the registry may claim core names, or a namespace for another tenant.',
  );
}

const operatorOnly = (message: string): OpenwopError =>
  new OpenwopError('forbidden', { message, details: { scopeRequired: HOST_ADMIN } });

function claimRequest(caller: Caller, body: ClaimBody, now: number) {
  const { namespace, owner = liveTenant(caller.tenant), publishers = [], contact, signingKey } = body;
  const key = signingKey && {
    kid: signingKey.keyId,
    algorithm: 'ed25519',
    publicKey: signingKey.publicKey,
    validFrom: signingKey.validFrom ?? isoTime(now),
    ...given({ validUntil: signingKey.validUntil }),
  };
  return { namespace, owner, publishers, ...given({ contact, key }) };
}
