/** Writes frames to one socket, immediately or batched for `bufferMs`. */
import type { StoredEvent } from '@gantry/protocol';
import { batchText, type Frame, frameText, isUrgent, type Projection } from './sse-frames.ts';

const GATHERED_MAX = 500;
const GATHERED_BYTES_MAX = 262_144;

/** Bytes that several streams of a run send, encoded by the first of them. */
export type SharedBytes = Map<string, Buffer>;

/** The part of a socket that a writer uses. */
export interface Sink {
  readonly writable: boolean;
  write(bytes: Buffer | string): boolean;
}

export interface FrameWriter {
  /** `shared` belongs to exactly these events. */
  write(events: readonly StoredEvent[], shared: SharedBytes | null): void;
  /** Sends buffered frames. */
  flush(): void;
}

function encode(frames: readonly Frame[]): Buffer {
  const [first] = frames;
  if (first && frames.length === 1) {
    first.bytes ??= Buffer.from(frameText(first));
    return first.bytes;
  }
  return Buffer.from(frames.map(frameText).join(''));
}

/** Sends every frame immediately. Streams with the same `shareAs` send the same bytes. */
export function directWriter(socket: Sink, project: Projection, shareAs: string | null): FrameWriter {
  return {
    write(events, shared) {
      let bytes = shareAs === null ? undefined : shared?.get(shareAs);
      if (bytes === undefined) {
        bytes = encode(project(events));
        if (shareAs !== null) shared?.set(shareAs, bytes);
      }
      if (bytes.length > 0) socket.write(bytes);
    },
    flush() {},
  };
}

/** Collects frames into batches. An event that ends or suspends a run is sent immediately. */
export function bufferedWriter(socket: Sink, project: Projection, bufferMs: number): FrameWriter {
  let gathered: Frame[] = [];
  let gatheredBytes = 0;
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (gathered.length > 0 && socket.writable) socket.write(batchText(gathered));
    gathered = [];
    gatheredBytes = 0;
  };
  return {
    write(events) {
      const frames = project(events);
      gathered.push(...frames);
      for (const { data } of frames) gatheredBytes += data.length;
      const isFull = gathered.length >= GATHERED_MAX || gatheredBytes >= GATHERED_BYTES_MAX;
      if (isFull || events.some((event) => isUrgent(event.type))) flush();
      else if (gathered.length > 0) timer ??= setTimeout(flush, bufferMs);
    },
    flush,
  };
}
