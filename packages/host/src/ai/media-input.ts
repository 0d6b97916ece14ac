/**
 * Media that messages refer to by an address or a ref: fetched here, through egress and within limits, or read from the
 * store of this host, and passed on as bytes. No library gets an address. The modalities of the model are checked
 * first, so nothing is fetched for a call that is refused.
 */
import type { Modality } from '@gantry/ai';
import { type Egress, EgressError } from '@gantry/egress';
import { LimiterError, limiter } from '@gantry/limiter';
import { invalid, isObject, type Json, type JsonObject, OpenwopError } from '@gantry/protocol';
import type { MediaStore } from './media-store.ts';

export const MEDIA_BYTES_MAX = 5 * 1024 * 1024;
const PARTS_MAX = 20;
const TIMEOUT_MS = 30_000;
const REDIRECTS = 3;

/** Bytes of messages in memory at once, over all calls. A request holds them three times: as base64, bytes and JSON. */
const BYTES_AT_ONCE_MAX = 256 * 1024 * 1024;
const WAIT_MS = 60_000;
/** Every call may hold this much without waiting. */
const FREE_BYTES = 256 * 1024;

interface WithContent {
  readonly content: Json;
}

export interface MediaTerms {
  readonly egress: Pick<Egress, 'request'>;
  readonly media: Pick<MediaStore, 'idOf' | 'read'>;
  readonly tenant: string;
  readonly modalities: readonly Modality[];
  readonly signal: AbortSignal;
}

const isAddressed = (part: Json): part is JsonObject =>
  isObject(part) && part.type !== 'text' && (part.url !== undefined || part.mediaRef !== undefined);

/** The maximum memory that the media of messages take. */
function bytesOf(messages: readonly WithContent[]): number {
  const parts = messages.flatMap(({ content }) => (Array.isArray(content) ? content : []));
  const inline = parts.reduce<number>((sum, part) => {
    const { data, dataBase64 = data } = isObject(part) ? part : ({} as JsonObject);
    return typeof dataBase64 === 'string' ? sum + dataBase64.length : sum;
  }, 0);
  return inline + Math.min(parts.filter(isAddressed).length, PARTS_MAX) * MEDIA_BYTES_MAX;
}

/** Reserves memory for the media of a call while it runs. */
export function mediaRoom() {
  const room = limiter({ max: BYTES_AT_ONCE_MAX, perTenantMax: BYTES_AT_ONCE_MAX / 2, waitMs: WAIT_MS });
  return async <T>(
    messages: readonly WithContent[],
    { tenant, signal }: Pick<MediaTerms, 'tenant' | 'signal'>,
    call: () => Promise<T>,
  ): Promise<T> => {
    const weight = bytesOf(messages);
    if (weight <= FREE_BYTES) return call();
    const release = await room.acquire(tenant, { weight, signal }).catch((error: unknown) => {
      if (!(error instanceof LimiterError)) throw error;
      throw new OpenwopError('service_unavailable', {
        message: `The media of this call need ${Math.ceil(weight / 1_048_576)} MiB of memory. ${error.message}`,
      });
    });
    return call().finally(release);
  };
}

/** The same messages, with addresses replaced by bytes. */
export async function withMedia<M extends WithContent>(
  messages: readonly M[],
  terms: MediaTerms,
): Promise<M[]> {
  const addressed = messages.flatMap(({ content }) =>
    Array.isArray(content) ? content.filter(isAddressed) : [],
  );
  if (addressed.length === 0) return [...messages];
  if (addressed.length > PARTS_MAX)
    throw invalid(`A call takes at most ${PARTS_MAX} media by address, not ${addressed.length}.`);
  return Promise.all(
    messages.map(async (message) => {
      const { content } = message;
      if (!Array.isArray(content) || !content.some(isAddressed)) return message;
      const parts = content.map((part) => (isAddressed(part) ? fetched(part, terms) : part));
      return { ...message, content: await Promise.all(parts) };
    }),
  );
}

async function fetched(part: JsonObject, terms: MediaTerms): Promise<JsonObject> {
  const { url, mediaRef, ...rest } = part;
  const { modalities } = terms;
  checkModality(String(part.type === 'file' ? 'document' : part.type), modalities);
  const name = url ?? mediaRef;
  if (typeof name !== 'string' || rest.data !== undefined || (url !== undefined && mediaRef !== undefined))
    throw invalid('A media part has one of url, mediaRef and data.');
  const { bytes, contentType } = await contentOf(name, url === undefined, terms);
  const mimeType = rest.mimeType ?? contentType;
  if (mimeType === undefined) throw unfetched('The server sent no media type; set mimeType.');
  return { ...rest, mimeType, data: Buffer.from(bytes).toString('base64') };
}

/** `where`: the path of the part in the messages. */
export function checkModality(modality: string, modalities: readonly Modality[], where = ''): void {
  if (modalities.some((each) => each === modality)) return;
  throw new OpenwopError('unsupported_modality', {
    message: `The model does not accept ${modality}${where && ` (${where})`}. It accepts: ${modalities.join(', ')}.`,
    details: { modality, modalities: [...modalities] },
  });
}

interface Content {
  readonly bytes: Uint8Array;
  readonly contentType: string | undefined;
}

/** Media of this host are read from its store. */
async function contentOf(name: string, isRef: boolean, terms: MediaTerms): Promise<Content> {
  const { media, tenant } = terms;
  const id = await media.idOf(tenant, name);
  if (id === undefined && !isRef) return downloaded(name, terms);
  const found = id === undefined ? null : await media.read(tenant, id);
  if (!found)
    throw invalid('The tenant has no such media. Use the mediaRef of a call whose run is still there.');
  return { bytes: found.data, contentType: found.mimeType };
}

async function downloaded(url: string, { egress, tenant, signal }: MediaTerms): Promise<Content> {
  try {
    const { status, headers, body } = await egress.request(url, {
      tenant,
      signal,
      timeoutMs: TIMEOUT_MS,
      maxResponseBytes: MEDIA_BYTES_MAX,
      redirects: REDIRECTS,
    });
    if (status !== 200) throw unfetched(`The server answered ${status}.`);
    return { bytes: body, contentType: headers.get('content-type')?.split(';')[0]?.trim() };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof EgressError) throw unfetched(error.message, error.reason);
    throw error;
  }
}

const BLOCKED = /not_allowed$/;

const unfetched = (why: string, reason = 'failed'): OpenwopError =>
  new OpenwopError(BLOCKED.test(reason) ? 'ssrf_blocked' : 'fetch_failed', {
    message: `Media of a message could not be fetched. ${why}`,
    details: { reason },
  });
