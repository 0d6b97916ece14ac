/**
 * Attachments of messages: fetched after the message was taken and before its run starts.
 *
 * I1  What is to be fetched is on disk with the message. A process that dies here is followed by one that fetches again,
 *     under the same keys.
 * I2  The sender chose the addresses, so they are fetched from public addresses only: what the operator has opened for
 *     other purposes does not count. One that may not be called, or fails for good, is dropped, and the run starts.
 * I3  Every object has a record that deletes it when no run can need it any more, written before the object.
 */
import { hash } from 'node:crypto';
import { type Egress, EgressError, type EgressReason } from '@gantry/egress';
import { type JsonObject, OpenwopError, TRIGGER_LIMITS } from '@gantry/protocol';
import type { Change, RecordKind, Stored } from '@gantry/resources';
import type { Store } from '@gantry/store';
import { type BlobPort, decodeBase64, type NumberedCall } from '@gantry/surfaces';
import type { Attempts } from '../deliveries/delivery.ts';
import type { LaneKey, Next } from '../deliveries/lanes.ts';
import { AGAIN, PendingPages } from '../deliveries/pending-pages.ts';
import type { Parts } from '../parts.ts';
import type { AttachmentSource, Content } from './content.ts';
import { deliveries } from './delivery.ts';
import { TRIGGERS } from './dispatch.ts';

const WAIT_MS = 10 * 60_000;
const FETCH_TIMEOUT_MS = 15_000;
const REDIRECTS_MAX = 3;
const AGAIN_MS = [5_000, 30_000];
/** How long a run may last. */
const RUN_MS = 30 * 86_400_000;

interface WantedRecord extends Attempts {
  readonly subscriptionId: string;
  readonly sources: readonly AttachmentSource[];
}

/** By the id of the delivery. */
export const wanted: RecordKind<WantedRecord> = {
  kind: 'trigger-attachments',
  idPrefix: 'att',
  ref: ({ subscriptionId }) => subscriptionId,
  dueAt: ({ dueAt }) => dueAt,
};

/** By the id of the delivery: how many objects may be there. */
export const kept: RecordKind<{ readonly count: number; readonly dueAt: number }> = {
  kind: 'trigger-attachments-kept',
  idPrefix: 'att',
  dueAt: ({ dueAt }) => dueAt,
};

/** When a delivery is due: at once, or when its attachments are there. */
export const dueWith = ({ attachments = [] }: Content, now: number) =>
  attachments.length === 0 ? { dueAt: now } : { dueAt: now + WAIT_MS, waitsFor: 'attachments' as const };

/** I1, I3. In the commit of the message. */
export function wantAttachments(
  change: Change,
  {
    deliveryId,
    subscriptionId,
    retentionMs,
    content: { attachments: sources = [] },
  }: {
    readonly deliveryId: string;
    readonly subscriptionId: string;
    readonly retentionMs: number;
    readonly content: Content;
  },
): void {
  if (sources.length === 0) return;
  const { now } = change;
  change.create(wanted, { subscriptionId, sources, createdAt: now, dueAt: now, attempts: 0 }, deliveryId);
  change.create(kept, { count: sources.length, dueAt: now + RUN_MS + retentionMs }, deliveryId);
}

export interface AttachmentsOptions extends Pick<Parts, 'changes' | 'now'> {
  readonly store: Pick<Store, 'entries'>;
  /** I2. */
  readonly egress: Pick<Egress, 'request'>;
  readonly blobs: Pick<BlobPort, 'put' | 'delete'>;
  readonly bucket: string;
}

type Fetched =
  | { readonly kind: 'kept'; readonly ref: JsonObject }
  | { readonly kind: 'dropped'; readonly reason: string }
  | { readonly kind: 'again'; readonly reason: string };

export class Attachments {
  readonly #options: AttachmentsOptions;
  readonly #pages: PendingPages<WantedRecord>;

  constructor(options: AttachmentsOptions) {
    const { store, now } = options;
    this.#options = options;
    this.#pages = new PendingPages({ entries: store.entries, kind: wanted, now });
  }

  /** Fetches for one message of a subscription. */
  turn(key: LaneKey): Promise<Next> {
    return this.#pages.turn(key, (page) =>
      this.#pages.workOnFirst(key, page, async (first) => {
        await this.#fetchAll(first);
        return AGAIN;
      }),
    );
  }

  /** I3. Deletes the objects of a message. */
  async remove(stored: Stored<{ count: number; dueAt: number }>): Promise<void> {
    const { blobs, bucket, changes, now } = this.#options;
    const { tenant, id, record } = stored;
    for (let n = 0; n < record.count; n++) {
      const call = { tenant, now: now(), invocation: invocationOf(tenant, id, n, 'delete') };
      await blobs.delete({ bucket, key: keyOf(id, n) }, call);
    }
    await changes.settle(TRIGGERS, stored, null);
  }

  async #fetchAll(want: Stored<WantedRecord>): Promise<void> {
    const { tenant, id, record } = want;
    const fetched: Fetched[] = [];
    // One after the other: each may fill its limit in memory
    for (const [n, source] of record.sources.entries())
      fetched.push(await this.#fetch(tenant, id, n, source));
    const { changes, now } = this.#options;
    const delayMs = AGAIN_MS[record.attempts];
    if (delayMs !== undefined && fetched.some(({ kind }) => kind === 'again')) {
      const next = { ...record, attempts: record.attempts + 1, dueAt: now() + delayMs };
      await changes.settle(TRIGGERS, want, next);
    } else await changes.settle(TRIGGERS, want, null, (change) => deliver(change, id, fetched));
  }

  async #fetch(tenant: string, deliveryId: string, n: number, source: AttachmentSource): Promise<Fetched> {
    const { egress, blobs, bucket, now } = this.#options;
    try {
      const { bytes, type } = await contentOf(egress, tenant, source);
      const key = keyOf(deliveryId, n);
      const call = { tenant, now: now(), invocation: invocationOf(tenant, deliveryId, n, 'put') };
      const { sizeBytes } = await blobs.put({ bucket, key, bytes, contentType: type }, call);
      const { filename } = source;
      const about = { ...(filename && { filename }), ...(type && { mediaType: type }), bytes: sizeBytes };
      return { kind: 'kept', ref: { ref: key, ...about } };
    } catch (error) {
      if (error instanceof EgressError)
        return { kind: PASSING.has(error.reason) ? 'again' : 'dropped', reason: error.reason };
      if (!(error instanceof OpenwopError)) throw error;
      return { kind: error.status === 503 ? 'again' : 'dropped', reason: error.code };
    }
  }
}

const PASSING: ReadonlySet<EgressReason> = new Set(['resolve_failed', 'connect_failed', 'timeout']);

/** The whole of a type and its subtype: it becomes a header of the object. */
const MEDIA_TYPE = /^[\w!#$&^.+-]{1,64}\/[\w!#$&^.+-]{1,64}$/;

async function contentOf(
  egress: AttachmentsOptions['egress'],
  tenant: string,
  { url, content = '', mediaType }: AttachmentSource,
): Promise<{ bytes: Uint8Array; type: string | null }> {
  const typeOf = (text: string | null = null): string | null =>
    text !== null && MEDIA_TYPE.test(text) ? text : null;
  if (url === undefined) return { bytes: decodeBase64(content, 'content'), type: typeOf(mediaType) };
  const { status, headers, body } = await egress.request(url, {
    tenant,
    timeoutMs: FETCH_TIMEOUT_MS,
    maxResponseBytes: TRIGGER_LIMITS.attachmentBytesMax,
    redirects: REDIRECTS_MAX,
  });
  if (status >= 500) throw new OpenwopError('service_unavailable');
  if (status < 200 || status > 299) throw new OpenwopError('not_found');
  const said = headers.get('content-type')?.split(';', 1)[0]?.trim();
  return { bytes: body, type: typeOf(mediaType ?? said) };
}

/** The delivery has what was fetched, and is due. */
async function deliver(change: Change, id: string, fetched: readonly Fetched[]): Promise<void> {
  const delivery = await change.find(deliveries, id);
  if (delivery?.record.state.status !== 'pending') return;
  const { waitsFor: _over, ...state } = delivery.record.state;
  const refs = fetched.flatMap((each) => (each.kind === 'kept' ? [each.ref] : []));
  const dropped = fetched.flatMap((each, attachment) =>
    each.kind === 'kept' ? [] : [{ attachment, reason: each.reason }],
  );
  const email = { ...(state.event.email as JsonObject), attachments: refs };
  change.replace(delivery, {
    ...delivery.record,
    ...(dropped.length > 0 && { dropped }),
    state: { ...state, event: { ...state.event, email }, dueAt: change.now },
  });
}

/** In the bucket that packs mean when they name none. */
const keyOf = (deliveryId: string, n: number): string => `triggers/${deliveryId}/${n}`;

/** The first content counts: a repeat puts no other. */
function invocationOf(
  tenant: string,
  deliveryId: string,
  ordinal: number,
  verb: 'put' | 'delete',
): NumberedCall {
  const method = `blobStorage.${verb}`;
  const journalKey = `${deliveryId}/attachments/${verb}/${ordinal}`;
  const id = hash('sha256', [tenant, journalKey].join('\0'), 'base64url');
  return { id, journalKey, tenant, runId: deliveryId, nodeId: '', ordinal, method, fingerprint: id };
}
