/**
 * Messages go into the stream of their tenant as long as there is room.
 *
 * The server keeps no bound: with `max_bytes` and `discard: new`, nats-server 2.9 throws the oldest messages away that
 * nobody has received. So who publishes looks first. Where room is short, processes take turns by the number that the
 * message has to get, so that together they do not pass the bound.
 */
import { Lines } from '../line.ts';
import { backendUnavailable, tenantFull } from '../queue/errors.ts';
import { type NatsSession, whileConnected } from './connection.ts';
import { apiCodeOf, WRONG_LAST_SEQUENCE } from './errors.ts';
import { dropConsumed } from './groups.ts';

export interface Parcel {
  readonly stream: string;
  readonly subject: string;
  readonly messageId: string;
  readonly body: Uint8Array;
}

/** What the server keeps beside subject and body: its own frame, and the header with the id. */
const FRAME_BYTES = 64;
/** With so much room left, more than a hundred of the largest messages can come at once. */
const AMPLE_BYTES = 33_554_432;
const TRIES_MAX = 100;
const AHEAD_SHARE = 16;
/** A number that no message gets: the server then answers for messages that it knows already, and takes no other. */
const NEVER_SEQ = 2 ** 52;

const sizeOf = ({ subject, messageId, body }: Parcel): number =>
  FRAME_BYTES + subject.length + messageId.length + body.length;

/** Without a look at the room. */
export async function put({ streams }: NatsSession, parcel: Parcel, lastSequence?: number): Promise<void> {
  const expect = lastSequence === undefined ? {} : { expect: { lastSequence } };
  await streams.publish(parcel.subject, parcel.body, { msgID: parcel.messageId, ...expect });
}

export type PutIfRoom = (session: NatsSession, parcel: Parcel) => Promise<void>;

export function puttingIfRoom(quotaBytes: number): PutIfRoom {
  // In this process one after the other, so that only processes race
  const lines = new Lines();
  return async (session, parcel) => {
    const { bytes } = await stateOf(session, parcel.stream);
    if (bytes + sizeOf(parcel) + AMPLE_BYTES <= quotaBytes) return put(session, parcel);
    return lines.inTurn(parcel.stream, () =>
      whileConnected(session, putClosely(session, parcel, quotaBytes)),
    );
  };
}

const stateOf = async ({ manager }: NatsSession, stream: string) =>
  (await manager.streams.info(stream)).state;

/** Some more than is needed now, for those who publish next. */
const wantedBytes = (parcel: Parcel, quotaBytes: number): number =>
  Math.max(sizeOf(parcel), quotaBytes / AHEAD_SHARE);

async function putClosely(session: NatsSession, parcel: Parcel, quotaBytes: number): Promise<void> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const { bytes, last_seq } = await stateOf(session, parcel.stream);
    if (bytes + sizeOf(parcel) <= quotaBytes) {
      if (await putAfter(session, parcel, last_seq)) return;
    } else if ((await dropConsumed(session, parcel.stream, wantedBytes(parcel, quotaBytes))) === 0) {
      // Published before, with an answer that was lost
      if (await putAfter(session, parcel, NEVER_SEQ)) return;
      throw tenantFull(quotaBytes);
    }
  }
  throw backendUnavailable('Too many publish to the queues of this tenant at once. Try again later.');
}

/** False when another message came first. */
async function putAfter(session: NatsSession, parcel: Parcel, lastSequence: number): Promise<boolean> {
  try {
    await put(session, parcel, lastSequence);
    return true;
  } catch (error) {
    if (apiCodeOf(error) === WRONG_LAST_SEQUENCE) return false;
    throw error;
  }
}
