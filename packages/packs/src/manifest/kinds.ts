import Type, { type Static, type TSchema } from 'typebox';
import { WorkflowChain } from '../workflow-chain/chain.ts';
import {
  ArtifactTypePackManifest,
  CardPackManifest,
  ConnectionPackManifest,
  FormContentPackManifest,
  FrontendPluginPackManifest,
  PromptPackManifest,
} from './declarative.ts';
import { type Identity, manifestOf } from './fields.ts';
import { NodePackManifest } from './node.ts';

const WorkflowChainPackManifest = manifestOf('workflow-chain', {
  chains: Type.Array(WorkflowChain, { minItems: 1, maxItems: 200 }),
});
/**
 * By kind: the schema, and the members that hold what the kind is for, which no other kind may have. `ids` are those
 * that list something, or hold the one thing, each with the member that is its id.
 */
export const PACK_KINDS = {
  node: {
    schema: NodePackManifest,
    ids: { nodes: 'typeId', agents: 'agentId' },
    others: ['runtime', 'connector'],
  },
  'workflow-chain': { schema: WorkflowChainPackManifest, ids: { chains: 'chainId' }, others: [] },
  prompt: { schema: PromptPackManifest, ids: { prompts: 'templateId' }, others: [] },
  'artifact-type': { schema: ArtifactTypePackManifest, ids: { artifactTypes: 'artifactTypeId' }, others: [] },
  card: { schema: CardPackManifest, ids: { cards: 'cardTypeId' }, others: [] },
  connection: { schema: ConnectionPackManifest, ids: { provider: 'id' }, others: [] },
  'frontend-plugin': { schema: FrontendPluginPackManifest, ids: { uiPlugins: 'pluginId' }, others: [] },
  'form-content': { schema: FormContentPackManifest, ids: { templates: 'templateId' }, others: [] },
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
    .find((kind) => [...Object.keys(PACK_KINDS[kind].ids), ...PACK_KINDS[kind].others].includes(member));
