/** One pass over an archive, with one file in memory at a time. */
import { isUtf8 } from 'node:buffer';
import {
  type ArchiveLimits,
  digestOf,
  eachFile,
  FILE_LIST_FILES,
  type FileDigest,
  unpublishable,
} from '@gantry/packs';
import { OpenwopError } from '@gantry/protocol';

export interface Inspection {
  readonly manifestBytes: Buffer;
  /** Every file by path, reduced to a placeholder of the same kind: see `traceOf`. */
  readonly traces: ReadonlyMap<string, Uint8Array>;
  readonly digests: ReadonlyMap<string, FileDigest>;
  /** The list of files and its signature, if the archive has them. */
  readonly listing: ReadonlyMap<string, Buffer>;
}

const OBJECT = Buffer.from('{}');
const TEXT = Buffer.from('text');
const BYTES = Buffer.from([0xff]);

export async function inspectArchive(
  source: AsyncIterable<Uint8Array>,
  limits: ArchiveLimits,
): Promise<Inspection> {
  const traces = new Map<string, Uint8Array>();
  const digests = new Map<string, FileDigest>();
  const listing = new Map<string, Buffer>();
  const { manifestBytes } = await eachFile(source, limits, ({ path, bytes }) => {
    refuseUnpublishable(path, bytes);
    traces.set(path, traceOf(bytes));
    digests.set(path, digestOf(bytes));
    if (FILE_LIST_FILES.includes(path)) listing.set(path, bytes);
  });
  return { manifestBytes, traces, digests, listing };
}

function refuseUnpublishable(path: string, bytes: Buffer): void {
  const why = unpublishable(path, bytes);
  if (why === undefined) return;
  throw new OpenwopError('unsafe_paths', {
    message: `${path} must not be published: ${why}. Build the archive with gantry pack build, or leave the file out.`,
    details: { path: path.slice(0, 256) },
  });
}

/**
 * Files that the manifest refers to must be text, schemas also JSON. pack.json may come last, so each file is
 * replaced by a small placeholder of the same kind (JSON, text or bytes) until its references are known.
 */
function traceOf(bytes: Buffer): Uint8Array {
  if (!isUtf8(bytes)) return BYTES;
  return isSchema(bytes.toString('utf8').replace(/^\uFEFF/, '')) ? OBJECT : TEXT;
}

function isSchema(text: string): boolean {
  if (!/^\s*(\{|true\s*$|false\s*$)/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The content of one file of an archive; undefined if there is no such file. */
export async function fileIn(
  archive: AsyncIterable<Uint8Array>,
  limits: ArchiveLimits,
  path: string,
): Promise<Buffer | undefined> {
  let found: Buffer | undefined;
  await eachFile(archive, limits, (file) => {
    if (file.path === path) found = file.bytes;
  });
  return found;
}
