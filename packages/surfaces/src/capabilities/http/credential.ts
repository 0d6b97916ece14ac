/** The credential that a request names, by reference. Its value is inserted only when the request is sent. */
import type { EgressCredential, EgressDecision, Outgoing } from '@gantry/egress';
import { invalid, OpenwopError } from '@gantry/protocol';
import type { ReadCall, SurfaceCaller } from '../../calls/surface-call.ts';

/** Overrides the header that the credential was stored for. */
export interface CredentialPlacement {
  readonly header: string;
  readonly prefix: string;
}

export type CredentialReader = Pick<ReadCall, 'owner'> & {
  readonly runId: string;
};

export interface HttpCredentials {
  /** Rejects with the errors of credentials. */
  open(reader: CredentialReader, ref: string, placement?: CredentialPlacement): Promise<EgressCredential>;
  /** Whether a header contains a value that this host issued. */
  isIssued(tenant: string, value: string): boolean;
  /** Decides about values of credentials in a request of pack code. Undefined if there are none. */
  inspect(tenant: string, url: string, request: Outgoing): Promise<EgressDecision | undefined>;
  /** The possible decisions about a credential when it is sent. */
  readonly decisions: readonly EgressDecision['decision'][];
}

interface Asked {
  readonly headers: Readonly<Record<string, string>>;
  readonly credential?: { readonly ref: string } | undefined;
}

interface Wanted {
  readonly ref: string;
  readonly placement?: CredentialPlacement;
}

/** `Bearer {{credential:stripe}}` */
const PLACEHOLDER = /^([^{}]*)\{\{credential:([^{}\s]{1,256})\}\}$/;
const MENTION = '{{credential:';

/** Also answers the headers without the one that the credential fills in. */
export function wantedCredential({ headers, credential }: Asked): {
  readonly wanted: Wanted | undefined;
  readonly headers: Readonly<Record<string, string>>;
} {
  const [mentions, others] = partition(Object.entries(headers));
  if (mentions.length + (credential ? 1 : 0) > 1) throw misused('A request carries one credential.');
  const [mention] = mentions;
  if (!mention) return { wanted: credential && { ref: credential.ref }, headers };
  const [header, value] = mention;
  const [, prefix = '', ref] = PLACEHOLDER.exec(value) ?? [];
  if (ref === undefined)
    throw misused(`The header ${header} must end with {{credential:REF}}, and name one reference.`);
  return { wanted: { ref, placement: { header, prefix } }, headers: Object.fromEntries(others) };
}

type Header = readonly [name: string, value: string];

function partition(headers: readonly Header[]): [mentions: Header[], others: Header[]] {
  const isMention = ([, value]: Header): boolean => value.includes(MENTION);
  return [headers.filter(isMention), headers.filter((header) => !isMention(header))];
}

const misused = (message: string): OpenwopError =>
  invalid(`${message} Use { credential: { ref } }, or "Bearer {{credential:REF}}" as a header.`);

/** Headers that identify the caller: with forged ones, a pack could pass on credentials that are not its own. */
const IDENTITY: ReadonlySet<string> = new Set(['authorization', 'cookie']);

export function assertIssued(
  credentials: HttpCredentials,
  tenant: string,
  headers: Readonly<Record<string, string>>,
): void {
  for (const [name, value] of Object.entries(headers)) {
    if (!IDENTITY.has(name.toLowerCase()) || credentials.isIssued(tenant, value)) continue;
    throw new OpenwopError('fetch_failed', {
      message:
        `The header ${name} was not made from a credential of this host, so the request was not sent. ` +
        'Store the value with `gantry credentials add`, and send it with { credential: { ref } }.',
      details: { reason: 'request_not_allowed' },
    });
  }
}

export const readerOf = ({ owner, caller }: ReadCall): CredentialReader => ({
  owner,
  runId: runOf(caller),
});

const runOf = (caller: SurfaceCaller): string => (caller.kind === 'node' ? caller.runId : '');
