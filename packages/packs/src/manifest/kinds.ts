import Type, { type Static, type TSchema } from 'typebox';
import { WorkflowChain } from '../workflow-chain/chain.ts';
import { ConnectionPackManifest } from './connection.ts';
import {
  ArtifactTypePackManifest,
  CardPackManifest,
  FormContentPackManifest,
  FrontendPluginPackManifest,
  PromptPackManifest,
} from './declarative.ts';
import { type Identity, manifestOf } from './fields.ts';
import { NodePackManifest } from './node.ts';

const WorkflowChainPackManifest = manifestOf('workflow-chain', {
  chains: Type.Array(WorkflowChain, { minItems: 1, maxItems: 200 }),
});
/** By kind: the schema, and the members that hold what the kind is for, which no other kind may have. */
export const PACK_KINDS = {
  node: { schema: NodePackManifest, content: ['nodes', 'agents', 'runtime', 'connector'] },
  'workflow-chain': { schema: WorkflowChainPackManifest, content: ['chains'] },
  prompt: { schema: PromptPackManifest, content: ['prompts'] },
  'artifact-type': { schema: ArtifactTypePackManifest, content: ['artifactTypes'] },
  card: { schema: CardPackManifest, content: ['cards'] },
  connection: { schema: ConnectionPackManifest, content: ['provider'] },
  'frontend-plugin': { schema: FrontendPluginPackManifest, content: ['uiPlugins'] },
  'form-content': { schema: FormContentPackManifest, content: ['templates'] },
} as const;
export type PackKind = keyof typeof PACK_KINDS;

/** What `readManifest` gives: `kind` is always there, also where the file leaves out `node`. */
export type PackManifest = {
  [Kind in PackKind]: Static<(typeof PACK_KINDS)[Kind]['schema']> &
    Absent<(typeof PACK_KINDS)[Kind]['schema']>;
}[PackKind];

/** Members that other kinds have and this one never does, for code that is about all kinds. */
type Absent<Schema extends TSchema> = Partial<Omit<Identity, keyof Static<Schema>>>;

export const isPackKind = (kind: unknown): kind is PackKind =>
  typeof kind === 'string' && Object.hasOwn(PACK_KINDS, kind);

/** Which kind a member is the content of, if it is content at all. */
export const kindOfContent = (member: string): PackKind | undefined =>
  Object.keys(PACK_KINDS)
    .filter(isPackKind)
    .find((kind) => PACK_KINDS[kind].content.some((key) => key === member));
