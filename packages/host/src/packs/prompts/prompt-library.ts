/** The prompts that a tenant can use: those of installed packs. */
import { compareVersions, type PromptTemplate } from '@gantry/packs';
import { OpenwopError } from '@gantry/protocol';
import { type DeclaredPack, declaredPacks } from '../binding.ts';
import type { PackRecords } from '../pack-records.ts';
import type { PromptRef } from './prompt-ref.ts';

export interface PromptFilter {
  readonly kind?: string;
  readonly modelClass?: string;
  readonly source?: string;
  /** All of them. */
  readonly tags: readonly string[];
}

export interface PromptPage {
  readonly items: readonly PromptTemplate[];
  readonly nextCursor?: string;
}

export class PromptLibrary {
  readonly #records: PackRecords;

  constructor(records: PackRecords) {
    this.#records = records;
  }

  /** In the order of their ids. A cursor is a key in that order, so prompts that come and go move no other. */
  async list(
    tenant: string,
    filter: PromptFilter,
    { after, limit }: { after: string | undefined; limit: number },
  ): Promise<PromptPage> {
    const start = after === undefined ? '' : keyIn(after);
    const rest = (await this.#templates(tenant, (template) => suits(template, filter)))
      .map((template) => ({ template, key: keyOf(template) }))
      .filter(({ key }) => key > start)
      .sort((left, right) => (left.key < right.key ? -1 : 1));
    const page = rest.slice(0, limit);
    const last = page.at(-1);
    return {
      items: page.map(({ template }) => template),
      ...(rest.length > limit && last && { nextCursor: Buffer.from(last.key).toString('base64url') }),
    };
  }

  /** The version that is named, else the latest. */
  async find(tenant: string, ref: PromptRef): Promise<PromptTemplate> {
    const { templateId, libraryId, version } = ref;
    const found = await this.#templates(
      tenant,
      (template) =>
        template.templateId === templateId &&
        (libraryId === undefined || template.meta?.packName === libraryId) &&
        (version === undefined || template.version === version),
    );
    const libraries = [...new Set(found.map(({ meta }) => meta?.packName ?? ''))].sort();
    if (libraries.length > 1)
      throw new OpenwopError('prompt_ref_ambiguous', { details: { templateId, libraries } });
    const [latest] = found.sort((left, right) => compareVersions(right.version, left.version));
    if (!latest) throw missing();
    return latest;
  }

  /** Of several installed versions of a pack, the last installed says what a version of a template is. */
  async #templates(tenant: string, keep: (template: PromptTemplate) => boolean): Promise<PromptTemplate[]> {
    const packs = await declaredPacks(this.#records, tenant, 'prompt');
    const byKey = new Map<string, PromptTemplate>();
    for (const template of packs.flatMap(templatesOf)) {
      const key = keyOf(template);
      if (!byKey.has(key)) byKey.set(key, template);
    }
    return [...byKey.values()].filter(keep);
  }
}

/** Where a prompt comes from is for the host to say, not for the pack. */
const templatesOf = ({ declared, name, version }: DeclaredPack<'prompt'>): PromptTemplate[] =>
  declared.prompts.map((template) => ({
    ...template,
    meta: { ...template.meta, source: 'pack', packName: name, packVersion: version },
  }));

/** No part of it can hold the character between them. */
const keyOf = ({ templateId, version, meta }: PromptTemplate): string =>
  [templateId, meta?.packName, version].join(' ');

function keyIn(cursor: string): string {
  const key = Buffer.from(cursor, 'base64url').toString('utf8');
  if (/^\S+ \S+ \S+$/.test(key)) return key;
  throw new OpenwopError('validation_error', {
    message: 'The cursor is not valid. Start without one.',
    details: { path: '/cursor' },
  });
}

const suits = (
  { kind, tags = [], modelHints, meta }: PromptTemplate,
  { kind: wanted, modelClass, source, tags: all }: PromptFilter,
): boolean =>
  (wanted === undefined || kind === wanted) &&
  (modelClass === undefined || modelHints?.modelClass === modelClass) &&
  (source === undefined || meta?.source === source) &&
  all.every((tag) => tags.includes(tag));

const missing = (): OpenwopError =>
  new OpenwopError('not_found', {
    message: 'There is no such prompt here. Install a pack that brings it, or look at GET /v1/prompts.',
  });
