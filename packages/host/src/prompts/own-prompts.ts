/** The prompts that a tenant writes itself: a record for each, with all of its versions. */
import { compareVersions, type PromptTemplate } from '@gantry/packs';
import { OpenwopError } from '@gantry/protocol';
import { type Caller, type Changes, listRecords, type RecordKind, readRecord } from '@gantry/resources';
import type { Store } from '@gantry/store';

const PER_TENANT_MAX = 500;
/** Of all versions of one prompt together. */
const VERSIONS_BYTES_MAX = 1024 * 1024;
const PAGE_BYTES = 4 * 1024 * 1024;

interface OwnPrompt {
  /** Oldest first. A version that was published stays: runs may name it. */
  readonly versions: readonly PromptTemplate[];
}

const ownPrompts: RecordKind<OwnPrompt> = {
  kind: 'prompt',
  idPrefix: 'prm',
  max: PER_TENANT_MAX,
  feed: true,
};

export class OwnPrompts {
  readonly #changes: Changes;
  readonly #entries: Store['entries'];

  constructor({ changes, store }: { readonly changes: Changes; readonly store: Pick<Store, 'entries'> }) {
    this.#changes = changes;
    this.#entries = store.entries;
  }

  async versionsOf(tenant: string, templateId: string): Promise<readonly PromptTemplate[]> {
    return (await readRecord(this.#entries, ownPrompts, tenant, templateId))?.record.versions ?? [];
  }

  /** All versions of a prompt at a time, in the order of ids after the given one; few of them are in memory. */
  async *after(tenant: string, templateId: string): AsyncGenerator<readonly PromptTemplate[]> {
    for (let afterId = templateId; ; ) {
      const page = { afterId, oldestFirst: true as const, limit: PER_TENANT_MAX, bytesMax: PAGE_BYTES };
      const prompts = await listRecords(this.#entries, ownPrompts, tenant, page);
      for (const { record } of prompts) yield record.versions;
      const last = prompts.at(-1);
      if (!last) return;
      afterId = last.id;
    }
  }

  create(caller: Caller, given: PromptTemplate): Promise<PromptTemplate> {
    return this.#changes.run(caller, async (change) => {
      const { templateId } = given;
      if (await change.find(ownPrompts, templateId))
        throw new OpenwopError('conflict', {
          message: `There is a prompt ${templateId} already. Send a higher version with PUT /v1/prompts/${templateId}.`,
        });
      const template = stamped(given, change.now, change.now);
      change.create(ownPrompts, { versions: [template] }, templateId);
      return template;
    });
  }

  replace(caller: Caller, templateId: string, given: PromptTemplate): Promise<PromptTemplate> {
    return this.#changes.run(caller, async (change) => {
      const stored = await change.find(ownPrompts, templateId);
      if (!stored) throw missingPrompt();
      const { versions } = stored.record;
      const latest = versions.at(-1)!;
      if (compareVersions(given.version, latest.version) <= 0)
        throw new OpenwopError('conflict', {
          message: `The version must be higher than ${latest.version}, the latest one.`,
          details: { version: latest.version },
        });
      const template = stamped(given, Date.parse(versions[0]!.meta?.createdAt ?? ''), change.now);
      const next = [...versions, template];
      if (Buffer.byteLength(JSON.stringify(next)) > VERSIONS_BYTES_MAX)
        throw new OpenwopError('conflict', {
          message: `All versions of a prompt have at most ${VERSIONS_BYTES_MAX} bytes. Create one with another id.`,
        });
      change.update(stored, { versions: next });
      return template;
    });
  }

  remove(caller: Caller, templateId: string): Promise<void> {
    return this.#changes.run(caller, async (change) => {
      const stored = await change.find(ownPrompts, templateId);
      if (!stored) throw missingPrompt();
      change.delete(stored);
    });
  }
}

/** The author is as the caller says; the times and the source are the host's. */
function stamped(given: PromptTemplate, createdAt: number, updatedAt: number): PromptTemplate {
  const { meta, ...template } = given;
  return {
    ...template,
    meta: {
      ...(meta?.author !== undefined && { author: meta.author }),
      createdAt: new Date(createdAt).toISOString(),
      updatedAt: new Date(updatedAt).toISOString(),
      source: 'user',
    },
  };
}

export const missingPrompt = (): OpenwopError =>
  new OpenwopError('not_found', {
    message:
      'There is no such prompt here. Create it, install a pack that brings it, or look at GET /v1/prompts.',
  });
