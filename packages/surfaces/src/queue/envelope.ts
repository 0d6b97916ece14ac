/** A message as brokers carry it: one body, so that no broker's rules for headers matter. */
import { isUtf8 } from 'node:buffer';
import type { Json } from '@gantry/protocol';
import type { QueueMessage } from '../ports/queue.ts';
import { isPlainText } from './plain-text.ts';

/** More than any message of ours has, dead letters included. */
export const BODY_BYTES_MAX = 327_680;
const MESSAGE_ID_LENGTH_MAX = 512;
/** Of a foreign body, in its dead letter: however it is escaped, brokers take it. */
const SHOWN_BYTES_MAX = 131_072;

export const toBody = ({ messageId, payload, headers }: QueueMessage): Buffer =>
  Buffer.from(JSON.stringify({ messageId, payload, headers }));

/** Null for what someone else put there. */
export function fromBody(body: Uint8Array): QueueMessage | null {
  if (body.length > BODY_BYTES_MAX) return null;
  try {
    const parsed: unknown = JSON.parse(Buffer.from(body).toString());
    return isMessage(parsed) ? parsed : null;
  } catch {
    return null;
  }
}

/** What becomes of a body that is no message. The server still has all of it for as long as it keeps messages. */
export function foreignMessage(messageId: string, body: Uint8Array): QueueMessage {
  const shown = Buffer.from(body.subarray(0, SHOWN_BYTES_MAX));
  const text = isUtf8(shown) ? { text: shown.toString() } : { base64: shown.toString('base64') };
  return { messageId, payload: { bytes: body.length, ...text }, headers: {} };
}

function isMessage(value: unknown): value is QueueMessage {
  if (typeof value !== 'object' || value === null) return false;
  const { messageId, payload, headers } = value as { [name: string]: Json | undefined };
  return isId(messageId) && payload !== undefined && isTexts(headers);
}

const isId = (value: Json | undefined): boolean =>
  typeof value === 'string' && value.length <= MESSAGE_ID_LENGTH_MAX && isPlainText(value);

const isTexts = (headers: Json | undefined): boolean =>
  typeof headers === 'object' &&
  headers !== null &&
  Object.values(headers).every((each) => typeof each === 'string');
