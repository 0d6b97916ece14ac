/** Reads an object with limits on size, time and memory. No connection is held while waiting for memory. */
import { addAbortSignal, Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { GetObjectCommandOutput } from '@aws-sdk/client-s3';
import { OpenwopError } from '@gantry/protocol';
import { codeOf } from '../backend-errors.ts';
import type { MakeRoom } from '../calls/content-room.ts';
import { knownType } from '../capabilities/blob/names.ts';
import { type BlobContent, OBJECT_BYTES_MAX } from '../ports/blobs.ts';
import {
  abortedLate,
  callMs,
  contentMs,
  type Named,
  NO_TYPE,
  type S3Bucket,
  type S3Times,
} from './bucket.ts';
import { isMissing } from './errors.ts';

interface OpenObject {
  /** The caller must read it to its end or destroy it. */
  readonly body: Readable;
  readonly sizeBytes: number;
  readonly contentType: string | null;
}

const READS_MAX = 3;

/** The client repeats requests, but not interrupted bodies, for example if the object is replaced meanwhile. */
export async function readObject(s3: S3Bucket, at: Named, makeRoom?: MakeRoom): Promise<BlobContent | null> {
  let room = 0;
  for (let reads = 1; ; ) {
    const object = await open(s3, at);
    if (object === null) return null;
    const { body, sizeBytes, contentType } = object;
    try {
      if (sizeBytes > room) {
        const made = makeRoom?.(sizeBytes - room);
        room = sizeBytes;
        if (made && !(await isMadeAtOnce(made))) {
          body.destroy();
          await made;
          continue;
        }
      }
      return { bytes: await bytesOf(object, s3.times), contentType };
    } catch (error) {
      body.destroy();
      if (!hasBrokenOff(error) || reads++ === READS_MAX) throw error;
    }
  }
}

const isMadeAtOnce = (made: Promise<void>): Promise<boolean> =>
  Promise.race([made.then(() => true), setImmediate(false)]);

const hasBrokenOff = (error: unknown): boolean => codeOf(error) === 'ECONNRESET';

async function open({ sdk, client, times }: S3Bucket, at: Named): Promise<OpenObject | null> {
  try {
    return openedOf(
      await abortedLate(callMs(times), (abortSignal) =>
        client.send(new sdk.GetObjectCommand(at), { abortSignal }),
      ),
    );
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

function openedOf({ Body, ContentLength, ...object }: GetObjectCommandOutput): OpenObject {
  if (!(Body instanceof Readable)) throw new Error('S3 answered without a body');
  try {
    checkSize(ContentLength);
  } catch (error) {
    Body.destroy();
    throw error;
  }
  return { body: Body, sizeBytes: ContentLength, contentType: typeOf(object) };
}

const typeOf = ({ ContentType, Metadata }: Pick<GetObjectCommandOutput, 'ContentType' | 'Metadata'>) =>
  Metadata?.[NO_TYPE.name] === NO_TYPE.value ? null : knownType(ContentType);

/** Clients can upload by link, and S3 does not limit the size of such uploads. */
export function checkSize(sizeBytes: number | undefined): asserts sizeBytes is number {
  if (sizeBytes === undefined || sizeBytes > OBJECT_BYTES_MAX)
    throw new OpenwopError('blob_object_too_large', { details: { maxObjectBytes: OBJECT_BYTES_MAX } });
}

async function bytesOf({ body, sizeBytes }: OpenObject, times: S3Times): Promise<Uint8Array> {
  const bytes = new Uint8Array(sizeBytes);
  let read = 0;
  await abortedLate(contentMs(times, sizeBytes), async (signal) => {
    for await (const chunk of addAbortSignal(signal, body)) {
      bytes.set(chunk, read);
      read += chunk.byteLength;
    }
  });
  if (read !== sizeBytes) throw new Error('S3 sent less than it said');
  return bytes;
}
