/** A published pack with keys made for the occasion. */
import { generateKeyPairSync } from 'node:crypto';
import type { JsonObject } from '@gantry/protocol';
import {
  archiveOf,
  integrityOf,
  readArchive,
  signEd25519,
  type TrustedKey,
  type TrustQuestion,
} from '../index.ts';

export interface KeyPair {
  readonly publicKey: string;
  readonly privateKey: string;
}

export function keyPair(): KeyPair {
  return generateKeyPairSync('ed25519', {
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
}

export const acmeKeys: KeyPair = keyPair();

export const acmeKey: TrustedKey = {
  keyId: 'acme-1',
  publicKey: acmeKeys.publicKey,
  permittedNamespaces: ['vendor.acme.*'],
  status: 'active',
};

export const NOW: number = Date.parse('2026-06-01T00:00:00Z');

export interface PackOptions {
  readonly manifest?: JsonObject;
  readonly method?: 'manual' | 'ed25519' | 'none';
  readonly keys?: KeyPair;
  readonly files?: Readonly<Record<string, string>>;
}

/** An archive and its detached signature in one of the two dialects. */
export async function signedPack(
  options: PackOptions = {},
): Promise<TrustQuestion['pack'] & { integrity: string }> {
  const { method = 'manual', keys = acmeKeys } = options;
  const signing = method === 'none' ? undefined : { method, publicKeyRef: 'acme-1' };
  const name = String(options.manifest?.name ?? 'vendor.acme.tools');
  const version = String(options.manifest?.version ?? '1.0.0');
  const manifest = Buffer.from(JSON.stringify({ name, version, ...options.manifest, signing }));
  const files = new Map<string, Buffer>([
    ['pack.json', manifest],
    ['index.mjs', Buffer.from('export const nodes = { "vendor.acme.tools.echo": ({ inputs }) => inputs };')],
    ...Object.entries(options.files ?? {}).map(([file, text]) => [file, Buffer.from(text)] as const),
  ]);
  const { bytes } = await archiveOf(files);
  const { manifestBytes, files: read } = await readArchive(bytes);
  const signed = method === 'ed25519' ? bytes : manifestBytes;
  return {
    name,
    version,
    signing,
    archive: bytes,
    manifestBytes,
    files: read,
    integrity: integrityOf(bytes),
    ...(method === 'none' ? {} : { detachedSignature: signEd25519(keys.privateKey, signed) }),
  };
}

/** The question that is answered with yes; a test changes one thing. */
export function question(
  pack: Awaited<ReturnType<typeof signedPack>>,
  change: Partial<TrustQuestion> = {},
): TrustQuestion {
  return {
    pack,
    record: { integrity: pack.integrity, publishedAt: '2026-05-01T00:00:00Z' },
    policy: { mode: 'verified' },
    trust: { keys: [acmeKey], now: NOW },
    advisories: [],
    isExact: false,
    ...change,
  };
}
