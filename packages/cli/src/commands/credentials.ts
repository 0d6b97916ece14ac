import { setTimeout } from 'node:timers/promises';
import { type Credential, type CredentialShare, credentialsWire, given } from '@gantry/protocol';
import { type Call, option } from '../command.ts';
import { UsageError } from '../io.ts';
import { print } from '../output.ts';
import { resourceCommand } from '../resource-command.ts';
import { readSecret, SECRET_OPTIONS } from '../secret-value.ts';
import { readChoice } from '../values.ts';

const KINDS = ['api_key', 'bearer', 'basic', 'oauth2'] as const;
const SCOPES = ['tenant', 'workspace', 'user', 'run'] as const;
const STORES = ['env', 'files'] as const;
const OVERLAP_MAX = 90 * 86_400;

/** The location in a store of the operator, or the value itself. */
async function materialOf(call: Call) {
  const source = call.args.text('source');
  if (source === undefined) return { value: await readSecret(call) };
  const [store, name] = source.split(':');
  const known = readChoice(store, { known: STORES, noun: 'store' });
  if (!known || !name) throw new UsageError(`--source takes env:NAME or files:NAME, not "${source}".`);
  return { source: { store: known, name } };
}

function shareOf({ args }: Call): CredentialShare {
  const share = args.given('workspace', 'principal');
  if (Object.keys(share).length === 0) throw new UsageError('Name a --workspace, a --principal or both.');
  return share;
}

function said(call: Call, credential: Credential, what: string): void {
  for (const warning of credential.warnings) call.io.stderr.write(`Warning: ${warning}\n`);
  print(call, credential, `${credential.ref} ${what}\n`);
}

/** Each step is bounded; an interrupted command continues when it is run again. */
async function rekey(call: Call): Promise<void> {
  const { client, io } = call;
  let [resealed, unreadable] = [0, 0];
  for (let after: string | undefined; ; ) {
    const step = await client.credentials.rekey(after);
    resealed += step.resealed;
    unreadable += step.unreadable;
    if (step.state === 'waiting') {
      io.stderr.write(`Distributing the new key ${step.keyId} to other processes ...\n`);
      await setTimeout(step.waitMs ?? 0, undefined, { signal: io.signal });
    }
    after = step.next;
    if (step.state !== 'done') continue;
    if (unreadable > 0)
      io.stderr.write(
        `Warning: ${unreadable} records cannot be opened with any key. gantry doctor lists affected credentials.\n`,
      );
    const text = `${resealed} records are sealed with the root key ${step.keyId}. Those before are deleted after ${step.endsAt}.\n`;
    return print(call, { ...step, resealed, unreadable }, text);
  }
}

export const credentials = resourceCommand<Credential>(credentialsWire, {
  summary: 'manage API keys and tokens for nodes',
  details:
    'The value is piped in, typed unseen, or read from a file or variable; it is never shown again.\n' +
    'It is sent only to its audiences: a host (api.example.com) or all below a domain (*.example.com).',
  listed: 50,
  columns: {
    REF: 'ref',
    STATE: 'state',
    KIND: 'kind',
    SCOPE: 'scope',
    VERSION: ({ versions }) => versions.map(({ version }) => version).join(','),
    EXPIRES: 'expiresAt',
    AUDIENCES: ({ audiences }) => audiences.join(','),
  },
  none: 'No credentials yet. Add one: gantry credentials add REF --audience api.example.com < FILE',
  add: {
    takes: '<ref>',
    async act(call, ref = '') {
      const { args, client } = call;
      const kind = readChoice(args.text('kind'), { known: KINDS, noun: 'kind' });
      const scope = readChoice(args.text('scope'), { known: SCOPES, noun: 'scope' });
      const made = await client.credentials.create({
        ref,
        ...args.given('provider', 'header', 'prefix'),
        ...given({ kind, scope, runId: args.text('run'), expiresAt: args.text('expires') }),
        audiences: [...args.list('audience')],
        ...(await materialOf(call)),
      });
      said(call, made, 'added');
    },
  },
  actions: {
    rotate: {
      takes: '<ref>',
      async act(call, ref = '') {
        const { args, client } = call;
        const overlapSeconds = args.whole('overlap', 0, OVERLAP_MAX);
        const rotated = await client.credentials.rotate(ref, {
          ...given({ overlapSeconds, expiresAt: args.text('expires') }),
          ...(await materialOf(call)),
        });
        const [current, before] = rotated.versions;
        const old = before ? `; version ${before.version} works until ${before.until}` : '';
        said(call, rotated, `is at version ${current?.version}${old}`);
      },
    },
    share: {
      takes: '<ref>',
      act: async (call, ref = '') =>
        said(call, await call.client.credentials.share(ref, shareOf(call)), 'shared'),
    },
    rekey: { act: rekey },
    unshare: {
      takes: '<ref>',
      act: async (call, ref = '') =>
        said(call, await call.client.credentials.unshare(ref, shareOf(call)), 'is no longer shared there'),
    },
  },
  options: {
    audience: option('HOST', 'where it may be sent; may be repeated', { of: ['add'], multiple: true }),
    kind: option('K', `${KINDS.join(', ')} (api_key)`, { of: ['add'] }),
    provider: option('NAME', 'whose credential it is, such as openai', { of: ['add'] }),
    scope: option('S', `${SCOPES.join(', ')} (tenant)`, { of: ['add'] }),
    run: option('ID', 'the run, with --scope run', { of: ['add'] }),
    header: option('NAME', 'the header it is sent in (authorization; x-api-key for api_key)', {
      of: ['add'],
    }),
    prefix: option('TEXT', 'text before the value in that header', { of: ['add'] }),
    expires: option('TIME', 'when it ends, such as 2030-01-31T00:00:00Z', { of: ['add', 'rotate'] }),
    source: option('STORE:NAME', 'env:NAME or files:NAME, which the operator opened', {
      of: ['add', 'rotate'],
    }),
    overlap: option('SECONDS', 'seconds that the old value stays valid (86400)', { of: ['rotate'] }),
    workspace: option('NAME', 'with whom', { of: ['share', 'unshare'] }),
    principal: option('ID', 'with whom', { of: ['share', 'unshare'] }),
    ...SECRET_OPTIONS,
  },
  examples: [
    'gantry credentials add stripe --kind bearer --audience api.stripe.com --from-file key.txt',
    'gantry credentials rotate stripe --overlap 3600 < new-key.txt',
    'gantry credentials share stripe --workspace finance',
    'gantry credentials rekey',
  ],
});
