/** The prompts of a tenant: one record for each, with all of its versions. */
import { compareVersions, type PromptTemplate } from '@gantry/packs';
import { isoTime, OpenwopError } from '@gantry/protocol';
import { listRecords, type RecordKind, readRecord } from '@gantry/resources';
import type { EntryReads } from '@gantry/store';

const PER_TENANT_MAX = 500;
/** The limit for all versions of one prompt together. */
const VERSIONS_BYTES_MAX = 1024 * 1024;
const PAGE_BYTES = 4 * 1024 * 1024;

interface OwnPrompt {
  /** Oldest first. A published version is kept: runs may name it. */
  readonly versions: readonly PromptTemplate[];
}

export const ownPrompts: RecordKind<OwnPrompt> = {
  kind: 'prompt',
  idPrefix: 'prm',
  missing: () => missingPrompt(),
  max: PER_TENANT_MAX,
  feed: true,
};

/** How long readers may keep a version: it must not get another text meanwhile. */
export const VERSION_KEPT_SECONDS = 365 * 86_400;

interface RetiredPrompt {
  /** The highest version that was deleted. */
  readonly version: string;
}

export const retiredPrompts: RecordKind<RetiredPrompt> = {
  kind: 'prompt-retired',
  idPrefix: 'prt',
  expiresAt: (_, now) => now + VERSION_KEPT_SECONDS * 1_000,
};

export const missingPrompt = (): OpenwopError =>
  new OpenwopError('not_found', {
    message:
      'There is no such prompt here. Create it, install a pack that brings it, or look at GET /v1/prompts.',
  });

export const newPrompt = (given: PromptTemplate, now: number): OwnPrompt => ({
  versions: [stamped(given, isoTime(now), now)],
});

/** Throws `conflict` if the version is not the highest, or all versions together are too large. */
export function withVersion({ versions }: OwnPrompt, given: PromptTemplate, now: number): OwnPrompt {
  requireHigher(given, versions.at(-1)!.version, 'the latest one');
  const next = [...versions, stamped(given, versions[0]!.meta!.createdAt!, now)];
  if (Buffer.byteLength(JSON.stringify(next)) > VERSIONS_BYTES_MAX)
    throw new OpenwopError('conflict', {
      message: `All versions of a prompt have at most ${VERSIONS_BYTES_MAX} bytes. Create one with another id.`,
    });
  return { versions: next };
}

/** A version keeps its text, so each one is higher than all before. */
export function requireHigher(given: PromptTemplate, version: string, which: string): void {
  if (compareVersions(given.version, version) > 0) return;
  const message = `The version must be higher than ${version}, ${which}: the text of a version never changes.`;
  throw new OpenwopError('conflict', { message, details: { version } });
}

/** The caller sets the author; the host sets the times and the source. */
function stamped({ meta, ...template }: PromptTemplate, createdAt: string, now: number): PromptTemplate {
  const author = meta?.author !== undefined && { author: meta.author };
  return { ...template, meta: { ...author, createdAt, updatedAt: isoTime(now), source: 'user' } };
}

export const latestOf = ({ versions }: OwnPrompt): PromptTemplate => versions.at(-1)!;

export async function versionsOf(
  entries: Pick<EntryReads, 'get'>,
  tenant: string,
  templateId: string,
): Promise<readonly PromptTemplate[]> {
  return (await readRecord(entries, ownPrompts, tenant, templateId))?.record.versions ?? [];
}

/** Yields all versions of one prompt at a time, ordered by id after the given one; only few are in memory. */
export async function* versionsAfter(
  entries: Pick<EntryReads, 'list'>,
  tenant: string,
  templateId: string,
): AsyncGenerator<readonly PromptTemplate[]> {
  for (let afterId = templateId; ; ) {
    const page = { afterId, oldestFirst: true as const, limit: PER_TENANT_MAX, bytesMax: PAGE_BYTES };
    const prompts = await listRecords(entries, ownPrompts, tenant, page);
    for (const { record } of prompts) yield record.versions;
    const last = prompts.at(-1);
    if (!last) return;
    afterId = last.id;
  }
}
