/** The prompts that a tenant can use: its own, those of installed packs, and those of the host. */
import { compareVersions, type PromptTemplate } from '@gantry/packs';
import { invalid, OpenwopError } from '@gantry/protocol';
import type { Caller, Changes } from '@gantry/resources';
import type { Store } from '@gantry/store';
import { type DeclaredPack, declaredPacks } from '../packs/binding.ts';
import type { PackRecords } from '../packs/pack-records.ts';
import { checkedPrompts } from './checked-prompts.ts';
import {
  latestOf,
  missingPrompt,
  newPrompt,
  ownPrompts,
  requireHigher,
  retiredPrompts,
  versionsAfter,
  versionsOf,
  withVersion,
} from './own-prompts.ts';
import type { PromptRef } from './prompt-ref.ts';

export interface PromptFilter {
  readonly kind?: string;
  readonly modelClass?: string;
  readonly source?: string;
  /** A prompt must have all of these. */
  readonly tags: readonly string[];
}

export interface PromptPage {
  readonly items: readonly PromptTemplate[];
  readonly nextCursor?: string;
}

export interface PromptSources {
  readonly records: PackRecords;
  readonly changes: Pick<Changes, 'run'>;
  readonly store: Pick<Store, 'entries'>;
  /** Prompts of the host. */
  readonly builtIn: readonly PromptTemplate[];
}

export class PromptLibrary {
  readonly #sources: PromptSources;

  constructor(sources: PromptSources) {
    this.#sources = sources;
  }

  async create(caller: Caller, template: PromptTemplate): Promise<PromptTemplate> {
    checkedPrompts([template]);
    const { templateId } = template;
    const others = await this.#others(caller.tenant, templateId);
    if (others.length > 0)
      throw new OpenwopError('conflict', {
        message: `${templateId} is a prompt of ${sourceOf(others[0]!)}. Choose another id.`,
      });
    return this.#sources.changes.run(caller, async (change) => {
      if (await change.find(ownPrompts, templateId))
        throw new OpenwopError('conflict', {
          message: `There is a prompt ${templateId} already. Send a higher version with PUT /v1/prompts/${templateId}.`,
        });
      const retired = await change.find(retiredPrompts, templateId);
      if (retired) requireHigher(template, retired.record.version, 'which was deleted');
      return latestOf(change.create(ownPrompts, newPrompt(template, change.now), templateId).record);
    });
  }

  async replace(caller: Caller, templateId: string, template: PromptTemplate): Promise<PromptTemplate> {
    await this.#requireOwn(caller.tenant, templateId);
    checkedPrompts([template]);
    return this.#sources.changes.run(caller, async (change) => {
      const stored = await change.get(ownPrompts, templateId);
      return latestOf(change.replace(stored, withVersion(stored.record, template, change.now)).record);
    });
  }

  async remove(caller: Caller, templateId: string): Promise<void> {
    await this.#requireOwn(caller.tenant, templateId);
    await this.#sources.changes.run(caller, async (change) => {
      const stored = await change.get(ownPrompts, templateId);
      await change.put(retiredPrompts, { version: latestOf(stored.record).version }, templateId);
      change.delete(stored);
    });
  }

  async #requireOwn(tenant: string, templateId: string): Promise<void> {
    const [own, others] = await this.#named(tenant, templateId);
    if (own.length > 0 || others.length === 0) return;
    throw new OpenwopError('forbidden', {
      message: `${templateId} is a prompt of ${sourceOf(others[0]!)} and cannot be changed. Create one with another id.`,
    });
  }

  async #others(tenant: string, templateId: string): Promise<PromptTemplate[]> {
    return (await this.#declared(tenant)).filter((template) => template.templateId === templateId);
  }

  /** Ordered by id. A cursor is a key in that order, so created and deleted prompts do not shift a page. */
  async list(
    tenant: string,
    filter: PromptFilter,
    { after, limit }: { after: string | undefined; limit: number },
  ): Promise<PromptPage> {
    const start = after === undefined ? '' : keyIn(after);
    const isWanted = (template: PromptTemplate): boolean =>
      suits(template, filter) && keyOf(template) > start;
    const found = (await this.#declared(tenant)).filter(isWanted);
    for await (const template of this.#ownFrom(tenant, start, limit, isWanted)) found.push(template);
    const rest = found
      .map((template) => ({ template, key: keyOf(template) }))
      .sort((left, right) => (left.key < right.key ? -1 : 1));
    const page = rest.slice(0, limit);
    const last = page.at(-1);
    return {
      items: page.map(({ template }) => template),
      ...(rest.length > limit && last && { nextCursor: Buffer.from(last.key).toString('base64url') }),
    };
  }

  /** The tenant's own prompts from a key on, until there are more than `limit`. */
  async *#ownFrom(
    tenant: string,
    start: string,
    limit: number,
    isWanted: (template: PromptTemplate) => boolean,
  ): AsyncGenerator<PromptTemplate> {
    const { entries } = this.#sources.store;
    const [first = ''] = start.split(' ');
    let count = 0;
    const wanted = (versions: readonly PromptTemplate[]): PromptTemplate[] => {
      const kept = versions.filter(isWanted);
      count += kept.length;
      return kept;
    };
    if (first !== '') yield* wanted(await versionsOf(entries, tenant, first));
    for await (const versions of versionsAfter(entries, tenant, first)) {
      if (count > limit) return;
      yield* wanted(versions);
    }
  }

  /** The named version, else the latest. */
  async find(tenant: string, ref: PromptRef): Promise<PromptTemplate> {
    const { templateId, libraryId, version } = ref;
    const [own, others] = await this.#named(tenant, templateId);
    const found = [...own, ...others].filter(
      (template) =>
        (libraryId === undefined || template.meta?.packName === libraryId) &&
        (version === undefined || template.version === version),
    );
    const libraries = [...new Set(found.map(libraryOf))].sort();
    if (libraries.length > 1)
      throw new OpenwopError('prompt_ref_ambiguous', { details: { templateId, libraries } });
    const [latest] = found.sort((left, right) => compareVersions(right.version, left.version));
    if (!latest) throw missingPrompt();
    return latest;
  }

  /** For pack code, with the errors of its interface. */
  async get(
    tenant: string,
    { id, version }: { readonly id: string; readonly version?: string },
  ): Promise<{ promptId: string; systemPrompt: string; version: string; envelopeType?: string }> {
    const [own, others] = await this.#named(tenant, id);
    const versions = [...own, ...others].map((template) => template.version);
    if (versions.length === 0) throw new OpenwopError('prompt_not_found');
    if (version !== undefined && !versions.includes(version))
      throw new OpenwopError('prompt_version_pinned', { details: { versions } });
    const template = await this.find(tenant, { templateId: id, ...(version !== undefined && { version }) });
    const { envelopeType } = template.modelHints ?? {};
    return {
      promptId: template.templateId,
      systemPrompt: template.text,
      version: template.version,
      ...(envelopeType !== undefined && { envelopeType }),
    };
  }

  #named(tenant: string, templateId: string) {
    const { entries } = this.#sources.store;
    return Promise.all([versionsOf(entries, tenant, templateId), this.#others(tenant, templateId)]);
  }

  /** If several installed versions of a pack define the same version of a template, the last installed pack wins. */
  async #declared(tenant: string): Promise<PromptTemplate[]> {
    const packs = await declaredPacks(this.#sources.records, tenant, 'prompt');
    const byKey = new Map<string, PromptTemplate>();
    for (const template of [...this.#sources.builtIn, ...packs.flatMap(templatesOf)]) {
      const key = keyOf(template);
      if (!byKey.has(key)) byKey.set(key, template);
    }
    return [...byKey.values()];
  }
}

/** The source of a prompt is set by the host, not by the pack. */
const templatesOf = ({ declared, name, version }: DeclaredPack<'prompt'>): PromptTemplate[] =>
  declared.prompts.map((template) => ({
    ...template,
    meta: { ...template.meta, source: 'pack', packName: name, packVersion: version },
  }));

const libraryOf = ({ meta }: Pick<PromptTemplate, 'meta'>): string =>
  meta?.packName ?? meta?.source ?? 'host';
const sourceOf = ({ meta }: PromptTemplate): string =>
  meta?.packName === undefined ? 'this host' : `the pack ${meta.packName}`;

/** No part contains the separator. */
const keyOf = (template: PromptTemplate): string =>
  [template.templateId, libraryOf(template), template.version].join(' ');

function keyIn(cursor: string): string {
  const key = Buffer.from(cursor, 'base64url').toString('utf8');
  if (/^\S+ \S+ \S+$/.test(key)) return key;
  throw invalid('The cursor is not valid. Start without one.', { path: '/cursor' });
}

const suits = (
  { kind, tags = [], modelHints, meta }: PromptTemplate,
  { kind: wanted, modelClass, source, tags: all }: PromptFilter,
): boolean =>
  (wanted === undefined || kind === wanted) &&
  (modelClass === undefined || modelHints?.modelClass === modelClass) &&
  (source === undefined || meta?.source === source) &&
  all.every((tag) => tags.includes(tag));
