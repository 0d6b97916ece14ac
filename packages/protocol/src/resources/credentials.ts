/** Credentials: the requests and responses of their API. A value can be written, but never read. */
import Type, { type Static } from 'typebox';
import { closedObject, optional, Positive, Time } from '../schema.ts';
import { wire } from '../wire.ts';

export const CREDENTIAL_LIMITS = {
  perTenantMax: 100_000,
  perRunMax: 32,
  valueBytesMax: 16_384,
  audiencesMax: 64,
  /** Values that are valid at once. */
  versionsMax: 10,
  sharesMax: 100,
  /** Values that a run may reveal to pack code per minute. */
  revealedPerMinuteMax: 120,
  overlapSecondsMax: 90 * 86_400,
  overlapSecondsDefault: 86_400,
  /** A shorter value cannot be found in text without false matches, so pack code never gets it. */
  redactableMin: 8,
} as const;

/** `credentials` of the discovery document. */
export const CREDENTIALS_CAPABILITY = {
  supported: true,
  scopes: ['user', 'workspace', 'tenant'],
  encryptionAtRest: true,
  rotation: 'two-key-overlap',
  sharing: true,
} as const;

const { valueBytesMax, audiencesMax, overlapSecondsMax } = CREDENTIAL_LIMITS;

/** A name without a version: `stripe`. `stripe@2` names its second value. */
export const CredentialRef = Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$' });

/** `user`: its principal in its workspace. `run`: one run; the credential ends with it. */
export const CREDENTIAL_SCOPES = ['user', 'workspace', 'tenant', 'run'] as const;
export const CredentialScope = Type.Enum([...CREDENTIAL_SCOPES]);
export type CredentialScope = (typeof CREDENTIAL_SCOPES)[number];

export const CredentialKind = Type.Enum(['api_key', 'bearer', 'basic', 'oauth2']);
export type CredentialKind = Static<typeof CredentialKind>;

const Name = Type.String({ minLength: 1, maxLength: 128 });
const Header = Type.String({ pattern: '^[A-Za-z0-9-]{1,64}$' });
const Prefix = Type.String({ pattern: '^[\\x20-\\x7e]{0,64}$' });

/** An external place of the value. The operator allows such places. */
const Source = closedObject({ store: Type.Enum(['env', 'files']), name: Name });

/** Exactly one of the two. */
const Material = {
  /** For `basic`, `user:password`. */
  value: optional(Type.String({ minLength: 1, maxLength: valueBytesMax })),
  source: optional(Source),
};

export const CreateCredentialRequest = closedObject({
  ref: optional(CredentialRef),
  kind: optional(CredentialKind),
  /** The provider of the credential, such as `openai`. */
  provider: optional(Name),
  scope: optional(CredentialScope),
  /** For the scope `run`. */
  runId: optional(Name),
  /** Hosts to which it may be sent: `api.example.com`, or all subdomains with `*.example.com`. */
  audiences: optional(Type.Array(Type.String({ maxLength: 255 }), { maxItems: audiencesMax })),
  header: optional(Header),
  prefix: optional(Prefix),
  expiresAt: optional(Time),
  ...Material,
});
export type CreateCredentialRequest = Static<typeof CreateCredentialRequest>;

export const RotateCredentialRequest = closedObject({
  ...Material,
  /** How long the replaced value stays valid. Default: a day; with 0 it ends at once. */
  overlapSeconds: optional(Type.Integer({ minimum: 0, maximum: overlapSecondsMax })),
  expiresAt: optional(Time),
});
export type RotateCredentialRequest = Static<typeof RotateCredentialRequest>;

/** A workspace, or one principal in it. */
export const CredentialShare = closedObject({ workspace: optional(Name), principal: optional(Name) });
export type CredentialShare = Static<typeof CredentialShare>;

export const Credential = Type.Object({
  ref: Type.String(),
  kind: CredentialKind,
  provider: optional(Type.String()),
  scope: CredentialScope,
  runId: optional(Type.String()),
  audiences: Type.Array(Type.String()),
  header: Type.String(),
  /** `unreadable`: its value is missing at its place. Checked when the credential is read. */
  state: Type.Enum(['active', 'expired', 'revoked', 'unreadable']),
  expiresAt: optional(Time),
  source: optional(Source),
  /** Newest first. Each can be used as `ref@version` until it ends. */
  versions: Type.Array(Type.Object({ version: Positive, createdAt: Time, until: optional(Time) })),
  sharedWith: Type.Array(CredentialShare),
  /** Pack code has read its value. */
  givenToPackCode: Type.Boolean(),
  /** Problems that prevent its use, or its safe use. */
  warnings: Type.Array(Type.String()),
  createdAt: Time,
});
export type Credential = Static<typeof Credential>;

export const credentialsWire = wire(
  {
    path: 'credentials',
    id: 'ref',
    item: { rotate: 'write', share: 'write', unshare: 'write', revoke: 'write' },
  },
  {
    about: 'Store a credential; its value is never shown',
    scopes: { read: ['credentials:manage'], write: ['credentials:manage'] },
    input: CreateCredentialRequest,
    view: Credential,
    methods: {
      rotate: {
        about: 'Replace the value; the old one can be used too for a while',
        in: RotateCredentialRequest,
      },
      share: { about: 'Let another workspace or principal use it; nothing is copied', in: CredentialShare },
      unshare: { about: 'End the access that share gave', in: CredentialShare },
      revoke: { about: 'Revoke all its values permanently', in: closedObject({}) },
    },
  },
);

/** One step of the rotation to a new root key of the database. */
export const RekeyStep = Type.Object({
  /** `waiting`: other processes must load the new key first. */
  state: Type.Enum(['waiting', 'resealing', 'done']),
  keyId: Type.String(),
  /** Records that this step encrypted with the new key. */
  resealed: Type.Integer(),
  /** Records that no key of the database can decrypt. */
  unreadable: Type.Integer(),
  waitMs: optional(Type.Integer()),
  /** The `after` value of the next step. */
  next: optional(Type.String()),
  /** When the previous keys are deleted. */
  endsAt: optional(Time),
});
export type RekeyStep = Static<typeof RekeyStep>;

export const RekeyRequest = closedObject({ after: optional(Type.String({ maxLength: 2_048 })) });
