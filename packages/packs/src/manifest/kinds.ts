import Type, { type Static, type TSchema } from 'typebox';
import { WorkflowChain } from '../workflow-chain/chain.ts';
import { ArtifactTypePackManifest } from './artifact-type.ts';
import { CardPackManifest } from './card.ts';
import { ConnectionPackManifest } from './connection.ts';
import { closed, identity } from './fields.ts';
import { FormContentPackManifest } from './form-content.ts';
import { FrontendPluginPackManifest } from './frontend-plugin.ts';
import { NodePackManifest } from './node.ts';
import { PromptPackManifest } from './prompt.ts';

const WorkflowChainPackManifest = Type.Object(
  {
    ...identity,
    kind: Type.Literal('workflow-chain'),
    chains: Type.Array(WorkflowChain, { minItems: 1, maxItems: 200 }),
  },
  closed,
);
type WorkflowChainPackManifest = Static<typeof WorkflowChainPackManifest>;

/** What `readManifest` gives: `kind` is always there, also where the file leaves out `node`. */
export type PackManifest =
  | NodePackManifest
  | WorkflowChainPackManifest
  | PromptPackManifest
  | ArtifactTypePackManifest
  | CardPackManifest
  | ConnectionPackManifest
  | FrontendPluginPackManifest
  | FormContentPackManifest;
export type PackKind = PackManifest['kind'];

interface Kind {
  readonly schema: TSchema;
  /** The members that hold what the kind is for; no other kind may have them. */
  readonly content: readonly string[];
}

export const PACK_KINDS: Readonly<Record<PackKind, Kind>> = {
  node: { schema: NodePackManifest, content: ['nodes', 'agents', 'runtime', 'connector'] },
  'workflow-chain': { schema: WorkflowChainPackManifest, content: ['chains'] },
  prompt: { schema: PromptPackManifest, content: ['prompts'] },
  'artifact-type': { schema: ArtifactTypePackManifest, content: ['artifactTypes'] },
  card: { schema: CardPackManifest, content: ['cards'] },
  connection: { schema: ConnectionPackManifest, content: ['provider'] },
  'frontend-plugin': { schema: FrontendPluginPackManifest, content: ['uiPlugins'] },
  'form-content': { schema: FormContentPackManifest, content: ['templates'] },
};

export const isPackKind = (kind: unknown): kind is PackKind =>
  typeof kind === 'string' && Object.hasOwn(PACK_KINDS, kind);

/** Which kind a member is the content of, if it is content at all. */
export const kindOfContent = (member: string): PackKind | undefined =>
  Object.entries(PACK_KINDS)
    .filter(([, { content }]) => content.includes(member))
    .map(([kind]) => kind)
    .find(isPackKind);
