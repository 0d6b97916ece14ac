import { type LazyValidator, lazyValidator } from '@gantry/protocol';
import type { Static, TSchema } from 'typebox';
import { WorkflowChain } from '../workflow-chain/chain.ts';
import {
  ArtifactTypePackManifest,
  CardPackManifest,
  ConnectionPackManifest,
  FormContentPackManifest,
  FrontendPluginPackManifest,
  PromptPackManifest,
} from './declarative.ts';
import { type Identity, manifestOf, some } from './fields.ts';
import type { Part } from './issue.ts';
import { NodePackManifest } from './node.ts';
import {
  checkArtifactTypes,
  checkCards,
  checkChains,
  checkForms,
  checkNodes,
  checkPrompts,
  checkProvider,
} from './rules-by-kind.ts';

const WorkflowChainPackManifest = manifestOf('workflow-chain', { chains: some(WorkflowChain, 200) });

/**
 * `rules` are checks that a schema cannot express. `ids` and `others` are the members with the content of the kind,
 * which no other kind may have: `ids` are its lists, or its single object, each with the name of its id member.
 */
const kind = <Schema extends TSchema>(
  schema: Schema,
  rules: (root: Part) => void,
  ids: Readonly<Record<string, string>>,
  others: readonly string[] = [],
) => ({ schema: lazyValidator(schema), rules, ids, others });

export const PACK_KINDS = {
  node: kind(NodePackManifest, checkNodes, { nodes: 'typeId', agents: 'agentId' }, ['runtime', 'connector']),
  'workflow-chain': kind(WorkflowChainPackManifest, checkChains, { chains: 'chainId' }),
  prompt: kind(PromptPackManifest, checkPrompts, { prompts: 'templateId' }),
  'artifact-type': kind(ArtifactTypePackManifest, checkArtifactTypes, { artifactTypes: 'artifactTypeId' }),
  card: kind(CardPackManifest, checkCards, { cards: 'cardTypeId' }),
  connection: kind(ConnectionPackManifest, checkProvider, { provider: 'id' }),
  'frontend-plugin': kind(FrontendPluginPackManifest, () => undefined, { uiPlugins: 'pluginId' }),
  'form-content': kind(FormContentPackManifest, checkForms, { templates: 'templateId' }),
};
export type PackKind = keyof typeof PACK_KINDS;

type ManifestOf<Kind extends PackKind> =
  (typeof PACK_KINDS)[Kind]['schema'] extends LazyValidator<infer Schema> ? Static<Schema> : never;

/**
 * The result of `readManifest`. `kind` is always set, even if the file omits `node`. Members that only other kinds
 * have are declared as absent, for code that handles all kinds.
 */
export type PackManifest = {
  [Kind in PackKind]: ManifestOf<Kind> & Partial<Omit<Identity, keyof ManifestOf<Kind>>>;
}[PackKind];

export const isPackKind = (kind: unknown): kind is PackKind =>
  typeof kind === 'string' && Object.hasOwn(PACK_KINDS, kind);

/** The kind whose content a member is; undefined if it is not content. */
export const kindOfContent = (member: string): PackKind | undefined =>
  Object.keys(PACK_KINDS)
    .filter(isPackKind)
    .find((kind) => [...Object.keys(PACK_KINDS[kind].ids), ...PACK_KINDS[kind].others].includes(member));
