/**
 * Media that models made.
 *
 * I1  They are written in the commit of the record of their call, as artifacts of its run, and deleted with the run.
 * I2  An id has 192 random bits: any client that knows it and the tenant may read.
 */
import { randomBytes } from 'node:crypto';
import type { Media } from '@gantry/ai';
import type { EmittedEvent } from '@gantry/engine';
import type { EntryKey, Store, Write } from '@gantry/store';
import { mediaArtifact } from '../artifacts/artifact-record.ts';
import type { CallingNode } from './planned-call.ts';

export const MEDIA = 'media';
const ID_BYTES = 24;
/** Of the artifact: readers of the run see its id, so it differs from the id that reads media without a key. */
const NAME_BYTES = 12;
const REF = 'media:';
/** Below the address of the host. */
export const MEDIA_ROOT = '/v1/host/gantry/media/';

/** The form in the record of a call. */
export interface StoredMedia extends Omit<Media, 'data'> {
  readonly id: string;
  readonly bytes: number;
}

/** Events and writes for the commit of the record. */
interface Kept {
  readonly stored: readonly StoredMedia[];
  readonly events: readonly EmittedEvent[];
  readonly writes: readonly Write[];
}

interface Body {
  readonly mimeType: string;
  /** Base64. */
  readonly data: string;
}

export interface MediaStoreOptions {
  readonly store: Pick<Store, 'entries'>;
  /** The address at which clients reach this host. */
  readonly address: { known(): Promise<string> };
  readonly now: () => number;
}

const keyOf = (tenant: string, id: string): EntryKey => ({ kind: MEDIA, tenant, id });

export class MediaStore {
  readonly #options: MediaStoreOptions;

  constructor(options: MediaStoreOptions) {
    this.#options = options;
  }

  /** I1: the events and writes for the commit of the record. */
  keeping(node: Pick<CallingNode, 'owner' | 'runId' | 'nodeId'>, media: readonly Media[]): Kept {
    const kept = media.map(({ data, ...about }) => {
      const id = randomBytes(ID_BYTES).toString('base64url');
      const body: Body = { mimeType: about.mimeType, data: Buffer.from(data).toString('base64') };
      const stored = { ...about, id, bytes: data.byteLength };
      const artifactId = `media-${randomBytes(NAME_BYTES).toString('base64url')}`;
      const artifact = mediaArtifact(node, stored, artifactId, this.#options.now());
      const write = this.#putting(node.owner, node.runId, id, body);
      return { stored, event: artifact.event, writes: [write, ...artifact.writes] };
    });
    return {
      stored: kept.map(({ stored }) => stored),
      events: kept.map(({ event }) => event),
      writes: kept.flatMap(({ writes }) => writes),
    };
  }

  #putting({ tenant, workspace }: CallingNode['owner'], runId: string, id: string, body: Body): Write {
    const dates = { dueAt: null, expiresAt: null, createdAt: this.#options.now() };
    const of = { workspace, ref: null, runId };
    const entry = { ...keyOf(tenant, id), ...dates, ...of, body: JSON.stringify(body) };
    return { kind: 'putEntry', entry, expectedVersion: null };
  }

  /** Null if the tenant has no such media, or its run was deleted. */
  async read(tenant: string, id: string): Promise<Media | null> {
    const entry = await this.#options.store.entries.get(keyOf(tenant, id));
    if (!entry) return null;
    const { mimeType, data } = JSON.parse(entry.body) as Body;
    return { mimeType, data: Buffer.from(data, 'base64') };
  }

  /** The reference that pack code passes to models. */
  refOf = ({ id }: StoredMedia): string => `${REF}${id}`;

  async urlOf(tenant: string, { id }: StoredMedia): Promise<string> {
    return `${await this.#root(tenant)}${id}`;
  }

  /** The id for a ref, or for an address that pack code was given; undefined for anything else. */
  async idOf(tenant: string, name: string): Promise<string | undefined> {
    if (name.startsWith(REF)) return name.slice(REF.length);
    const root = await this.#root(tenant);
    return name.startsWith(root) ? name.slice(root.length) : undefined;
  }

  async #root(tenant: string): Promise<string> {
    return `${await this.#options.address.known()}${MEDIA_ROOT}${encodeURIComponent(tenant)}/`;
  }
}
