/** One pass over an archive, a file in memory at a time. */
import { isUtf8 } from 'node:buffer';
import { type ArchiveLimits, digestOf, eachFile, FILE_LIST_FILES, type FileDigest } from '@gantry/packs';

export interface Inspection {
  readonly manifestBytes: Buffer;
  /** Every file by its path, reduced to what its references are checked for: see `traceOf`. */
  readonly traces: ReadonlyMap<string, Uint8Array>;
  readonly digests: ReadonlyMap<string, FileDigest>;
  /** The list of files and its signature, where the archive has them. */
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
    traces.set(path, traceOf(bytes));
    digests.set(path, digestOf(bytes));
    if (FILE_LIST_FILES.includes(path)) listing.set(path, bytes);
  });
  return { manifestBytes, traces, digests, listing };
}

/**
 * Files that the manifest refers to must be text, schemas also JSON. Which ones those are is known only after
 * pack.json, which may come last; so of each file there stays a small one of the same sort, not its content.
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
