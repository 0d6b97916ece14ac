/**
 * Media that messages name by an address: fetched here, through egress and within bounds, and handed on as bytes. No
 * library gets an address. What the model takes is checked first, so nothing is fetched for a call that is refused.
 */
import type { Modality } from '@gantry/ai';
import { type Egress, EgressError } from '@gantry/egress';
import { type Json, type JsonObject, OpenwopError } from '@gantry/protocol';

export const MEDIA_BYTES_MAX = 5 * 1024 * 1024;
const PARTS_MAX = 20;
const TIMEOUT_MS = 30_000;
const REDIRECTS = 3;

interface WithContent {
  readonly content: Json;
}

export interface MediaTerms {
  readonly egress: Pick<Egress, 'request'>;
  readonly tenant: string;
  readonly modalities: readonly Modality[];
  readonly signal: AbortSignal;
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isAddressed = (part: Json): part is JsonObject & { url: string } =>
  isObject(part) && part.type !== 'text' && typeof part.url === 'string';

/** The same messages, with bytes in the place of addresses. */
export async function withMedia<M extends WithContent>(
  messages: readonly M[],
  terms: MediaTerms,
): Promise<M[]> {
  const addressed = messages.flatMap(({ content }) =>
    Array.isArray(content) ? content.filter(isAddressed) : [],
  );
  if (addressed.length === 0) return [...messages];
  if (addressed.length > PARTS_MAX)
    throw new OpenwopError('validation_error', {
      message: `A call takes at most ${PARTS_MAX} media by address, not ${addressed.length}.`,
    });
  return Promise.all(
    messages.map(async (message) => {
      const { content } = message;
      if (!Array.isArray(content) || !content.some(isAddressed)) return message;
      const parts = content.map((part) => (isAddressed(part) ? fetched(part, terms) : part));
      return { ...message, content: await Promise.all(parts) };
    }),
  );
}

async function fetched(part: JsonObject & { url: string }, terms: MediaTerms): Promise<JsonObject> {
  const { url, ...rest } = part;
  const { egress, tenant, modalities, signal } = terms;
  const type = String(part.type === 'file' ? 'document' : part.type);
  if (!modalities.some((modality) => modality === type))
    throw new OpenwopError('unsupported_modality', {
      message: `The model takes no ${type}. It takes: ${modalities.join(', ')}.`,
      details: { modality: type, modalities: [...modalities] },
    });
  if (part.data !== undefined || part.mediaRef !== undefined)
    throw new OpenwopError('validation_error', {
      message: 'A media part has one of url, mediaRef and data.',
    });
  try {
    const { status, headers, body } = await egress.request(url, {
      tenant,
      signal,
      timeoutMs: TIMEOUT_MS,
      maxResponseBytes: MEDIA_BYTES_MAX,
      redirects: REDIRECTS,
    });
    if (status !== 200) throw unfetched(`The server answered ${status}.`);
    const told = headers.get('content-type')?.split(';')[0]?.trim();
    const mimeType = rest.mimeType ?? told;
    if (mimeType === undefined) throw unfetched('The server did not say what it is; name its mimeType.');
    return { ...rest, mimeType, data: Buffer.from(body).toString('base64') };
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
