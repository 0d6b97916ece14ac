/** What an ingested request brings to a run: bounded, and without anything that could be a credential. */

import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { FORM_MEDIA, parseBody, parseForm } from '@gantry/http';
import {
  EmailMessage,
  invalid,
  isObject,
  type Json,
  type JsonObject,
  lazyValidator,
  OpenwopError,
  problemsIn,
  TRIGGER_LIMITS,
  type TriggerSource,
} from '@gantry/protocol';

const JSON_MEDIA = /^application\/([\w.+-]+\+)?json$/;
const HEADER_LENGTH_MAX = 1_024;

/** Headers that say what an event is. All others are dropped: any of them may be a secret. */
const KEPT_HEADERS =
  /^(content-type|user-agent|ce-[a-z0-9]+|x-[a-z0-9-]+-(event|event-type|topic|delivery|delivery-id)|(x-)?openwop-(event-type|webhook-id|delivery-id)|x-event-type)$/;

export interface IngestRequest {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Where an attachment is, or what it is. The event has none of them until they were fetched. */
export type AttachmentSource = NonNullable<EmailMessage['attachments']>[number];

export interface Content {
  readonly block: JsonObject;
  readonly attachments?: readonly AttachmentSource[];
}

export function contentOf(source: TriggerSource, request: IngestRequest): Content {
  const media = mediaType(request.headers['content-type']);
  if (request.headers['content-encoding'] !== undefined)
    throw unreadable('Send the body without compression.');
  switch (source) {
    case 'webhook':
      return {
        block: {
          webhook: { method: 'POST', headers: keptHeaders(request.headers), ...body(media, request.body) },
        },
      };
    case 'form':
      return { block: { form: { fields: fields(media, request.body) } } };
    case 'email': {
      const { attachments = [], ...email } = message(media, request.body);
      return { block: { email: { ...email, attachments: [] } }, attachments };
    }
  }
}

const mediaType = (header: string | undefined): string =>
  (header ?? '').split(';', 1)[0]!.trim().toLowerCase();

const unreadable = (message: string): OpenwopError => new OpenwopError('unsupported_media_type', { message });

function keptHeaders(headers: IncomingHttpHeaders): JsonObject {
  const kept: JsonObject = {};
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value !== 'string' || value.length > HEADER_LENGTH_MAX) continue;
    if (KEPT_HEADERS.test(name)) kept[name] = value;
  }
  return kept;
}

function body(media: string, bytes: Buffer): { body?: Json } {
  if (JSON_MEDIA.test(media)) {
    const value = parseBody(bytes);
    return value === undefined ? {} : { body: value };
  }
  return bytes.length === 0 ? {} : { body: textOf(bytes) };
}

function textOf(bytes: Buffer): string {
  if (isUtf8(bytes) && !bytes.includes(0)) return bytes.toString('utf8');
  throw unreadable('A body that is not JSON must be text in UTF-8.');
}

function fields(media: string, bytes: Buffer): JsonObject {
  if (media === FORM_MEDIA) return parseForm(bytes, TRIGGER_LIMITS.formFieldsMax);
  if (!JSON_MEDIA.test(media)) throw unreadable(`Send a form as ${FORM_MEDIA} or as a JSON object.`);
  const value = parseBody(bytes);
  if (isObject(value)) return value;
  throw invalid('A form sent as JSON must be an object.');
}

const EMAIL = lazyValidator(EmailMessage);

function message(media: string, bytes: Buffer): EmailMessage {
  const value = JSON_MEDIA.test(media) ? parseBody(bytes) : null;
  if (!EMAIL.Check(value)) throw invalid(`${MESSAGE} ${problemOf(value)}`);
  for (const { url, content } of value.attachments ?? [])
    if ((url === undefined) === (content === undefined))
      throw invalid('An attachment has either a `url` or its `content` in base64.');
  return value;
}

const MESSAGE =
  'A message is a JSON object with `from`, `to`, `subject`, `text`, `html` and `attachments`, sent as application/json.';

function problemOf(value: unknown): string {
  const [first] = typeof value === 'object' ? problemsIn(EMAIL, value) : [];
  if (!first || value === null) return '';
  const { field, problem } = first;
  return field === '' ? `It ${problem}.` : `${field} ${problem}.`;
}
