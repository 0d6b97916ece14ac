/** The request that publishes, and what each refusal means for the author. */
import process from 'node:process';
import { EgressError, egressTo } from '@gantry/egress';
import { ERRORS } from '@gantry/protocol';
import type { Call } from '../../command.ts';
import { UsageError } from '../../io.ts';
import type { BuiltPack } from './source.ts';

export interface Publication {
  readonly registry: string;
  /** API key of the registry. */
  readonly key: string;
  readonly pack: BuiltPack;
}

const TIMEOUT_MS = 120_000;
const ANSWER_BYTES_MAX = 1024 * 1024;

/** Sending the same archive twice is harmless, so whoever is unsure publishes again. */
export async function sendPack(
  { io }: Call,
  { registry, key, pack }: Publication,
): Promise<'created' | 'unchanged'> {
  const { manifest, bytes, integrity } = pack;
  const address = `${registry}/v1/packs/${encodeURIComponent(manifest.name)}/-/${encodeURIComponent(manifest.version)}.tgz`;
  const { status, body } = await egressTo(registry, io.signal)
    .request(address, {
      method: 'PUT',
      body: bytes,
      headers: {
        authorization: `Bearer ${key}`,
        accept: 'application/json',
        'content-type': 'application/gzip',
        'x-pack-sha256': integrity,
        'x-pack-signing-method': methodOf(pack),
        'x-pack-build': buildOf(io.env),
      },
      timeoutMs: TIMEOUT_MS,
      maxResponseBytes: ANSWER_BYTES_MAX,
    })
    .catch((error: unknown) => {
      io.signal.throwIfAborted();
      if (!(error instanceof EgressError)) throw error;
      throw new UsageError(`The registry ${registry} is not reached: ${error.message}`);
    });
  if (status === 201) return 'created';
  if (status === 200) return 'unchanged';
  throw refusal(registry, status, body);
}

/** The header knows no `ed25519`: both are signatures made with a key by hand. */
function methodOf({ manifest: { signing } }: BuiltPack): string {
  if (signing === undefined) return 'none';
  return signing.method === 'sigstore' ? 'sigstore' : 'manual';
}

/** Who built it from what, for the record of the registry. Headers carry ASCII. */
function buildOf(env: Call['io']['env']): string {
  const repository = env.GITHUB_REPOSITORY ?? env.CI_PROJECT_URL;
  const commit = env.GITHUB_SHA ?? env.CI_COMMIT_SHA;
  const build = {
    tool: 'gantry',
    node: process.version,
    platform: `${process.platform}-${process.arch}`,
    ...(repository !== undefined && { repository: repository.slice(0, 256) }),
    ...(commit !== undefined && { commit: commit.slice(0, 64) }),
  };
  return JSON.stringify(build).replace(/[^\x20-\x7e]/g, '?');
}

const AGAIN = 'Try again; publishing the same archive twice is harmless.';

/** What only this command knows about going on; the rest is in the catalogue. */
const NEXT: Readonly<Record<string, string>> = {
  unauthenticated: 'Set GANTRY_REGISTRY_KEY to a key of this registry; a key of a host is another one.',
  forbidden:
    'Use a key with packs:publish that belongs to the owner of the namespace, and claim the namespace first: gantry registry claim',
  signature_required: 'Sign it: add --signing-key FILE. Make a key: gantry pack keygen acme-2026',
  signature_invalid:
    'Sign with the key that the registry knows for this namespace: --signing-key FILE, named after its key id.',
  conflict: 'A version is published once. Raise "version" in pack.json, and publish that.',
  version_conflict: 'A version is published once. Raise "version" in pack.json, and publish that.',
  pack_integrity_failure: 'It changed on its way. Publish it again.',
  payload_too_large: 'Leave out what the pack does not need, with .openwopignore.',
  service_unavailable: AGAIN,
  storage_unavailable: AGAIN,
  rate_limited: AGAIN,
  internal_error: `${AGAIN} If it stays so, tell the operator of the registry.`,
};

function refusal(registry: string, status: number, body: Uint8Array): UsageError {
  const envelope = envelopeOf(body);
  if (!envelope)
    return new UsageError(
      `${registry} answered ${status}, and not as a registry does. Check the address; a registry of plain files takes no packs.`,
    );
  const { error, message } = envelope;
  const known = Object.entries(ERRORS).find(([code]) => code === error)?.[1].next ?? '';
  const next = NEXT[error] ?? known;
  // What the catalogue says to every client comes once, and in the words of this command where it has any.
  const happened = message.endsWith(known) ? message.slice(0, message.length - known.length).trim() : message;
  return new UsageError(`The registry did not take it (${error}): ${happened}\n${next}`.trimEnd());
}

function envelopeOf(body: Uint8Array): { error: string; message: string } | undefined {
  try {
    const { error, message } = JSON.parse(Buffer.from(body).toString('utf8'));
    return typeof error === 'string' && typeof message === 'string' ? { error, message } : undefined;
  } catch {
    return undefined;
  }
}
