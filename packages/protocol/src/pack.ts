/** Packs as this host keeps them: what is installed, what it may do, and what it was seen to use. */
import Type, { type Static } from 'typebox';
import { Count, closedObject, optional, Positive, Texts, Time } from './schema.ts';

const Integrity = Type.String({ pattern: '^sha256-[A-Za-z0-9+/]{43}=$' });
const PackName = Type.String({ minLength: 1, maxLength: 256 });

/** One pack in the `packs` map of a workflow definition. */
export const WorkflowPack = closedObject({
  version: optional(Type.String({ minLength: 1, maxLength: 128 })),
  integrity: optional(Integrity),
  /** The types that this pack and no other serves here. Without it, every type that it offers. */
  typeIds: optional(Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { maxItems: 2_000 })),
});
export type WorkflowPack = Static<typeof WorkflowPack>;

/** `packs` of a workflow definition, by pack name. */
export const WorkflowPacks = Type.Record(PackName, WorkflowPack, { maxProperties: 500 });
export type WorkflowPacks = Static<typeof WorkflowPacks>;

/** What of the host the code of a pack may call. */
export const PackSurfaces = Type.Object({
  /** A pack whose nodes are all pure may only read. */
  access: Type.Enum(['read', 'write']),
  /** Names of capabilities, without `host.`. */
  capabilities: Texts,
  /** False when its manifest names none of them, so that it may call those it was granted. */
  declared: Type.Boolean(),
  /** What its code calls beyond that cannot be determined, and why. */
  undetermined: optional(Texts),
});
export type PackSurfaces = Static<typeof PackSurfaces>;

export const InstalledPack = Type.Object({
  name: Type.String(),
  version: Type.String(),
  kind: Type.String(),
  description: optional(Type.String()),
  integrity: Type.String(),
  /** Where it came from: handed over as an archive, or a folder that the operator named. */
  source: Type.Enum(['archive', 'folder']),
  /** May be replaced by other bytes of the same version. */
  development: Type.Boolean(),
  /** Every tenant of the host may use it. */
  shared: Type.Boolean(),
  trust: Type.Enum(['unsigned', 'signed', 'sigstore']),
  signedBy: optional(Type.String()),
  /** Of an unsigned one: it has a signature, by a key that this host does not know. */
  unknownSigner: optional(Type.Boolean()),
  /** What the signature proves: the manifest alone, every file, or the archive as it is. */
  covers: optional(Type.Enum(['manifest', 'files', 'archive'])),
  /** What it asks of the sandbox, and what of that it was granted. */
  requires: Texts,
  granted: Texts,
  /** Absent when it has no code that could call them. */
  surfaces: optional(PackSurfaces),
  typeIds: Texts,
  chainIds: Texts,
  /** What a pack of another kind brings: its provider, prompts, artifact types, cards or forms, by their ids. */
  contentIds: optional(Texts),
  /** Other packs that it needs: ranges by name. */
  dependencies: optional(Type.Record(PackName, Type.String())),
  /** Optional capabilities that this host does not offer. */
  degraded: Texts,
  warnings: Texts,
  installedAt: Time,
  installedBy: Type.String(),
});
export type InstalledPack = Static<typeof InstalledPack>;

/** What to install as one: from the registries of the host, or exactly what a lockfile lists. */
export const PackPlan = closedObject({
  packs: Type.Array(
    closedObject({
      name: PackName,
      /** Any version without it. */
      range: optional(Type.String({ minLength: 1, maxLength: 256 })),
      /** What asks for it, for messages. */
      requestedBy: optional(Type.String({ maxLength: 512 })),
    }),
    { maxItems: 10_000 },
  ),
  /** The text of a lockfile: its versions beat ranges, its integrities pin the bytes. */
  lock: optional(Type.String({ maxLength: 16 * 1024 * 1024 })),
  /** Nothing but what the lockfile lists. */
  frozen: optional(Type.Boolean()),
  /** Of what each pack asks for, what it gets. */
  grants: optional(
    Type.Record(PackName, Type.Array(Type.String({ maxLength: 64 }), { maxItems: 50 }), {
      maxProperties: 1_000,
    }),
  ),
  /** Only these of the host's registries. */
  registries: optional(Type.Array(Type.String({ maxLength: 2048 }), { maxItems: 100 })),
  /** Packs may take the place of newer versions. */
  older: optional(Type.Boolean()),
  /** Judged as if the caller had uploaded them, by the policy for uploads. */
  unverified: optional(Type.Boolean()),
  /** The digest of the plan that was shown; another plan is refused. */
  confirms: optional(Type.String({ maxLength: 128 })),
});
export type PackPlan = Static<typeof PackPlan>;

export const PackPlanResult = Type.Object({
  installed: Type.Array(InstalledPack),
  /** What was there already, with the version that serves new runs. */
  present: Type.Array(Type.Intersect([InstalledPack, Type.Object({ serving: Type.String() })])),
});
export type PackPlanResult = Static<typeof PackPlanResult>;

/** In the details of `pack_runtime_requirement_unmet`: what a pack of the plan asks for beyond its grants. */
export type PackAsking = {
  name: string;
  version: string;
  unmet: string[];
  /** Granted before. */
  granted: string[];
  /** What cannot be determined about the surfaces it calls, in words. */
  undetermined: string[];
};

export const PackPermission = Type.Object({ id: Type.String(), text: Type.String() });

export const PackGrant = Type.Object({
  requires: Texts,
  /** The version that was looked at. */
  version: Type.String(),
  workspace: Type.Union([Type.String(), Type.Null()]),
  grantedBy: Type.String(),
  grantedAt: Time,
});
export type PackGrant = Static<typeof PackGrant>;

export const PackDetail = Type.Object({
  name: Type.String(),
  /** The last installed comes first, and serves new runs. */
  versions: Type.Array(InstalledPack),
  permissions: Type.Array(PackPermission),
  /** Newest first. */
  grants: Type.Array(PackGrant),
});
export type PackDetail = Static<typeof PackDetail>;

export const GrantRequest = closedObject({ requires: Type.Array(Type.String(), { maxItems: 50 }) });

const Used = Type.Record(Type.String(), Positive);

/** What the host saw a version use since `since`, beside what it was granted. */
export const PackReceipt = Type.Object({
  version: Type.String(),
  since: Type.String({ format: 'date' }),
  steps: Count,
  /** In how many steps each was used. */
  primitives: Used,
  surfaces: Used,
});
export type PackReceipt = Static<typeof PackReceipt>;

export const PackReceipts = Type.Object({
  name: Type.String(),
  granted: Texts,
  used: Texts,
  /** Granted and never seen in use: a grant without them is smaller. */
  unused: Texts,
  receipts: Type.Array(PackReceipt),
});
export type PackReceipts = Static<typeof PackReceipts>;
