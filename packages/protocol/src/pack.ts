/** Packs of this host: installed versions, their permissions, and their observed use. */
import Type, { type Static } from 'typebox';
import { Count, closedObject, optional, Positive, Texts, Time } from './schema.ts';

const Integrity = Type.String({ pattern: '^sha256-[A-Za-z0-9+/]{43}=$' });
const PackName = Type.String({ minLength: 1, maxLength: 256 });

/** One pack in the `packs` map of a workflow definition. */
export const WorkflowPack = closedObject({
  version: optional(Type.String({ minLength: 1, maxLength: 128 })),
  integrity: optional(Integrity),
  /** The types that only this pack serves here. Default: every type that it offers. */
  typeIds: optional(Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { maxItems: 2_000 })),
});
export type WorkflowPack = Static<typeof WorkflowPack>;

/** `packs` of a workflow definition, by pack name. */
export const WorkflowPacks = Type.Record(PackName, WorkflowPack, { maxProperties: 500 });
export type WorkflowPacks = Static<typeof WorkflowPacks>;

/** The host capabilities that pack code may call. */
export const PackSurfaces = Type.Object({
  /** A pack with only pure nodes may only read. */
  access: Type.Enum(['read', 'write']),
  /** Names of capabilities, without `host.`. */
  capabilities: Texts,
  /** False if its manifest names none of them; it may then call those that were granted. */
  declared: Type.Boolean(),
  /** Why other calls of its code cannot be determined. */
  undetermined: optional(Texts),
});
export type PackSurfaces = Static<typeof PackSurfaces>;

export const InstalledPack = Type.Object({
  name: Type.String(),
  version: Type.String(),
  kind: Type.String(),
  description: optional(Type.String()),
  integrity: Type.String(),
  /** The source: an uploaded archive, or a folder of the operator. */
  source: Type.Enum(['archive', 'folder']),
  /** May be replaced by other content of the same version. */
  development: Type.Boolean(),
  /** Every tenant of the host may use it. */
  shared: Type.Boolean(),
  trust: Type.Enum(['unsigned', 'signed', 'sigstore']),
  signedBy: optional(Type.String()),
  /** For an unsigned pack: it has a signature by a key that this host does not know. */
  unknownSigner: optional(Type.Boolean()),
  /** What the signature covers: the manifest only, every file, or the whole archive. */
  covers: optional(Type.Enum(['manifest', 'files', 'archive'])),
  /** The requested sandbox permissions, and the granted ones. */
  requires: Texts,
  granted: Texts,
  /** Absent if it has no code that could call them. */
  surfaces: optional(PackSurfaces),
  typeIds: Texts,
  chainIds: Texts,
  /** The content of a pack of another kind: its provider, prompts, artifact types, cards or forms, by id. */
  contentIds: optional(Texts),
  /** Required packs: version ranges by name. */
  dependencies: optional(Type.Record(PackName, Type.String())),
  /** Optional capabilities that this host does not offer. */
  degraded: Texts,
  warnings: Texts,
  installedAt: Time,
  installedBy: Type.String(),
});
export type InstalledPack = Static<typeof InstalledPack>;

/** Packs to install together: from the registries of the host, or exactly those of a lockfile. */
export const PackPlan = closedObject({
  packs: Type.Array(
    closedObject({
      name: PackName,
      /** Default: any version. */
      range: optional(Type.String({ minLength: 1, maxLength: 256 })),
      /** What requires the pack, for messages. */
      requestedBy: optional(Type.String({ maxLength: 512 })),
    }),
    { maxItems: 10_000 },
  ),
  /** The text of a lockfile: its versions have precedence over ranges, its integrities pin the content. */
  lock: optional(Type.String({ maxLength: 16 * 1024 * 1024 })),
  /** Only packs that the lockfile lists. */
  frozen: optional(Type.Boolean()),
  /** The permissions that each pack gets. */
  grants: optional(
    Type.Record(PackName, Type.Array(Type.String({ maxLength: 64 }), { maxItems: 50 }), {
      maxProperties: 1_000,
    }),
  ),
  /** Use only these registries of the host. */
  registries: optional(Type.Array(Type.String({ maxLength: 2048 }), { maxItems: 100 })),
  /** Packs may replace newer versions. */
  older: optional(Type.Boolean()),
  /** Packs are checked by the policy for uploads, as if the caller had uploaded them. */
  unverified: optional(Type.Boolean()),
  /** The digest of the plan that was shown. A different plan is refused. */
  confirms: optional(Type.String({ maxLength: 128 })),
});
export type PackPlan = Static<typeof PackPlan>;

export const PackPlanResult = Type.Object({
  installed: Type.Array(InstalledPack),
  /** Packs that were already installed, with the version that serves new runs. */
  present: Type.Array(Type.Intersect([InstalledPack, Type.Object({ serving: Type.String() })])),
});
export type PackPlanResult = Static<typeof PackPlanResult>;

/** In the details of `pack_runtime_requirement_unmet`: what a pack of the plan needs beyond its grants. */
export type PackAsking = {
  name: string;
  version: string;
  unmet: string[];
  /** Already granted. */
  granted: string[];
  /** What cannot be determined about the surfaces it calls, as text. */
  undetermined: string[];
};

export const PackPermission = Type.Object({ id: Type.String(), text: Type.String() });

export const PackGrant = Type.Object({
  requires: Texts,
  /** The version that was checked. */
  version: Type.String(),
  workspace: Type.Union([Type.String(), Type.Null()]),
  grantedBy: Type.String(),
  grantedAt: Time,
});
export type PackGrant = Static<typeof PackGrant>;

export const PackDetail = Type.Object({
  name: Type.String(),
  /** Last installed first. The first one serves new runs. */
  versions: Type.Array(InstalledPack),
  permissions: Type.Array(PackPermission),
  /** Newest first. */
  grants: Type.Array(PackGrant),
});
export type PackDetail = Static<typeof PackDetail>;

export const GrantRequest = closedObject({ requires: Type.Array(Type.String(), { maxItems: 50 }) });

const Used = Type.Record(Type.String(), Positive);

/** The observed use of a version since `since`, next to its grants. */
export const PackReceipt = Type.Object({
  version: Type.String(),
  since: Type.String({ format: 'date' }),
  steps: Count,
  /** The number of steps that used each. */
  primitives: Used,
  surfaces: Used,
});
export type PackReceipt = Static<typeof PackReceipt>;

export const PackReceipts = Type.Object({
  name: Type.String(),
  granted: Texts,
  used: Texts,
  /** Granted but never used: the grant could be smaller. */
  unused: Texts,
  receipts: Type.Array(PackReceipt),
});
export type PackReceipts = Static<typeof PackReceipts>;
