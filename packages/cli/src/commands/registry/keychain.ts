/** Claims of namespaces, and their signing keys. */
import { createPublicKey } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { keyIdOf, signEd25519 } from '@gantry/packs';
import { given, type JsonObject } from '@gantry/protocol';
import type { Action } from '../../actions.ts';
import type { Call } from '../../command.ts';
import { UsageError } from '../../io.ts';
import { print } from '../../output.ts';
import { printable } from '../../style.ts';
import { askRegistry } from './request.ts';

const CLAIMS = '/v1/host/gantry/registry/claims';

interface PublicKey {
  readonly keyId: string;
  /** SPKI in base64, without line breaks: the input of a rotation proof. */
  readonly publicKey: string;
}

const readText = ({ io }: Call, file: string): Promise<string> =>
  readFile(path.resolve(io.cwd, file), 'utf8').catch((error: Error) => {
    throw new UsageError(`Cannot read ${file} (${error.message}).`);
  });

/** The name of the file without its ending is the key's id, as `gantry pack keygen` writes it. */
async function publicKeyIn(call: Call, file: string): Promise<PublicKey> {
  const text = await readText(call, file);
  if (text.includes('PRIVATE KEY'))
    throw new UsageError(
      `${file} is a private key, which must not leave your machine. Name the .pub file instead.`,
    );
  try {
    const der = createPublicKey(text).export({ type: 'spki', format: 'der' });
    return { keyId: keyIdOf(path.basename(file)), publicKey: der.toString('base64') };
  } catch {
    throw new UsageError(`${file} is not a public key. Create a key pair: gantry pack keygen acme-2026`);
  }
}

/** Options of the command line replace members of the earlier claim. */
async function sendClaim(call: Call, namespace: string, before: JsonObject = {}): Promise<JsonObject> {
  const { args } = call;
  const file = args.text('public-key');
  const signingKey = file === undefined ? {} : { signingKey: { ...(await publicKeyIn(call, file)) } };
  return askRegistry<JsonObject>(call, {
    method: 'POST',
    path: CLAIMS,
    body: { ...before, namespace, ...args.given('owner', 'contact'), ...signingKey },
  });
}

/** The members of the current claim: sending a claim replaces all of them. */
async function claimedBefore(call: Call, namespace: string): Promise<JsonObject> {
  const { claims } = await askRegistry<{ claims: JsonObject[] }>(call, { method: 'GET', path: CLAIMS });
  const found = claims.find((one) => one.namespace === namespace);
  if (found === undefined)
    throw new UsageError(
      `${namespace} is not claimed by you. Claim it with its key: gantry registry claim '${namespace}' --public-key FILE`,
    );
  const { owner, publishers, contact } = found;
  return given({ owner, publishers, contact }) as JsonObject;
}

export const claim: Action = {
  takes: '<namespace> [--public-key FILE] [--owner TENANT] [--contact TEXT]',
  async act(call, namespace = '') {
    const claimed = await sendClaim(call, namespace);
    const { owner, keys } = claimed;
    const isSigned = Array.isArray(keys) && keys.length > 0;
    const hint = `, without a key yet: gantry registry keys add '${namespace}' --public-key FILE`;
    print(call, claimed, `${printable(`${namespace} belongs to ${owner}`)}${isSigned ? '.' : hint}\n`);
  },
};

interface Claimed extends JsonObject {
  namespace: string;
  owner: string;
  publishers: string[];
  claimedAt: string;
}

export const claims: Action = {
  takes: '<what> [namespace]',
  async act(call, what = '', namespace) {
    if (what === 'drop' && namespace !== undefined) {
      const path = `${CLAIMS}/${encodeURIComponent(namespace)}`;
      const dropped = await askRegistry<JsonObject>(call, { method: 'DELETE', path });
      return print(call, dropped, `${printable(namespace)} is free.\n`);
    }
    if (what !== 'ls' || namespace !== undefined)
      throw new UsageError('Usage: gantry registry claims ls | drop <namespace>');
    const found = await askRegistry<{ claims: Claimed[] }>(call, { method: 'GET', path: CLAIMS });
    print(call, found, {
      items: found.claims,
      columns: {
        NAMESPACE: 'namespace',
        OWNER: 'owner',
        PUBLISHERS: ({ publishers }) => publishers.join(', ') || '-',
        SINCE: 'claimedAt',
      },
      none: "No claims yet. Claim a namespace: gantry registry claim 'vendor.acme.*' --public-key acme-2026.pub",
    });
  },
};

interface Listed extends JsonObject {
  keyId: string;
  permittedNamespaces: string[];
  status: string;
}

async function list(call: Call): Promise<void> {
  const { signingKeys = [] } = await askRegistry<{ signingKeys?: Listed[] }>(call, {
    method: 'GET',
    path: '/.well-known/openwop-registry',
    isOpen: true,
  });
  const found = { signingKeys };
  print(call, found, {
    items: signingKeys,
    columns: {
      KEY: 'keyId',
      STATE: 'status',
      'SIGNS FOR': ({ permittedNamespaces }) => permittedNamespaces.join(', '),
      OWNER: ({ operator = '-' }) => String(operator),
      FROM: ({ validFrom = '-' }) => String(validFrom),
      UNTIL: ({ validUntil = '-' }) => String(validUntil),
    },
    none: "No keys yet. Claim a namespace: gantry registry claim 'vendor.acme.*' --public-key acme-2026.pub",
  });
}

async function add(call: Call, namespace: string): Promise<void> {
  const file = call.args.text('public-key');
  if (file === undefined) throw new UsageError('Name the new key with --public-key FILE.');
  const claimed = await sendClaim(call, namespace, await claimedBefore(call, namespace));
  print(call, claimed, `${keyIdOf(path.basename(file))} signs for ${printable(namespace)}\n`);
}

/** The old key signs the new one, so that clients that trust the old key trust the new one. */
async function rotate(call: Call, namespace: string): Promise<void> {
  const { args, io } = call;
  const [old, next] = [args.text('signing-key'), args.text('public-key')];
  if (old === undefined || next === undefined)
    throw new UsageError(
      'Name the old private key with --signing-key FILE, and the new public one with --public-key FILE.',
    );
  const { keyId, publicKey } = await publicKeyIn(call, next);
  const validFrom = new Date(io.now()).toISOString();
  const pem = await readText(call, old);
  const proof = proofOf(pem, `${keyId}${publicKey}${validFrom}`, old);
  const keychain = await askRegistry<JsonObject>(call, {
    method: 'POST',
    path: `/v1/packs/${nameIn(namespace)}/-/keychain/rotate`,
    body: { kid: keyId, algorithm: 'ed25519', publicKey, validFrom, rotationProof: proof },
  });
  const signed = `what ${keyIdOf(path.basename(old))} signed stays valid`;
  print(call, keychain, `${keyId} signs for ${printable(namespace)} from now on; ${signed}.\n`);
}

function proofOf(pem: string, message: string, file: string): string {
  try {
    return Buffer.from(signEd25519(pem, Buffer.from(message))).toString('base64');
  } catch {
    throw new UsageError(`${file} is not a private signing key. Name the .pem file that keygen wrote.`);
  }
}

/** Keychains are addressed by a pack name; any name of the namespace gives the same one. */
const nameIn = (namespace: string): string => encodeURIComponent(namespace.replace(/\*$/, 'any'));

const KEY_ACTIONS = { ls: list, add, rotate } as const;

export const keys: Action = {
  takes: '<what> [namespace]',
  async act(call, what = '', namespace) {
    if (what === 'ls' && namespace === undefined) return list(call);
    const action = what === 'add' || what === 'rotate' ? KEY_ACTIONS[what] : undefined;
    if (action === undefined || namespace === undefined)
      throw new UsageError('Usage: gantry registry keys ls | add <namespace> | rotate <namespace>');
    return action(call, namespace);
  },
};
