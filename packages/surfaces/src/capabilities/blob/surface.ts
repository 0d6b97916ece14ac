/** `ctx.storage.blob`: objects in named buckets, and links to them. */
import { isoTime, OpenwopError } from '@gantry/protocol';
import { readS3Address } from '@gantry/store';
import Type from 'typebox';
import { contentRoom } from '../../calls/content-room.ts';
import { pageByKey } from '../../calls/cursor.ts';
import { defineSurface, type ImplementedSurface, reads, writes } from '../../calls/define-surface.ts';
import * as s from '../../calls/schema.ts';
import { notPure, type ReadCall } from '../../calls/surface-call.ts';
import { type OpenSurface, type Over, onPostgres, opening, type PortLiteral } from '../../open-port.ts';
import { type BlobPort, type BlobTarget, LINK_SECONDS_MAX, OBJECT_BYTES_MAX } from '../../ports/blobs.ts';
import { quotaOf } from '../../quotas.ts';
import { openS3Blobs } from '../../s3/blobs.ts';
import { openEmbeddedBlobs } from './embedded-blobs.ts';
import { type HostedBlobs, hostedBlobs } from './hosted-blobs.ts';
import { checkKey, contentTypeOf } from './names.ts';
import { BLOB } from './spellings.ts';

const { optional } = s;
/** Default: the first bucket. */
const Bucket = optional(s.Name);
const Target = { bucket: Bucket, key: s.Name };
const ContentType = optional(s.Text);

/** Per tenant; on S3 the bucket itself limits them. */
const QUOTA_BYTES = 1_073_741_824;
const quotaFor = (quotas: Parameters<typeof quotaOf>[0]) => quotaOf(quotas, 'blobs', QUOTA_BYTES);

/** `own`: the port in the data folder. Others: PostgreSQL, or `s3://bucket/prefix?endpoint=https://…&region=…` */
export const blobsPort = (
  own: BlobPort & Partial<HostedBlobs>,
): PortLiteral<BlobPort & Partial<HostedBlobs>> => ({
  setting: 'blobs',
  embedded: () => own,
  folder: 'blobs',
  servers: {
    ...onPostgres(async (database, { blobLinks, now, quotas }) => {
      const { postgresObjects } = await import('../../postgres/blobs.ts');
      return hostedBlobs(postgresObjects(database, { quotaBytes: quotaFor(quotas), now }), blobLinks);
    }),
    async s3(url) {
      const port = await openS3Blobs(readS3Address(new URL(url)));
      return { kind: 's3', port, health: port.health };
    },
  },
});

/** Links to objects in the data folder stay valid after a switch to S3, whose own links lead to S3. */
const openBlobs: OpenSurface = async (deps, capability) => {
  const { embedded, dataDir, blobLinks: links, quotas } = deps;
  const own = await openEmbeddedBlobs({ database: embedded, dataDir, quotaBytes: quotaFor(quotas), links });
  const open = opening(blobsPort(own), implementBlobs, ({ port }) => ({
    offers: { blobs: port, servePresigned: port.servePresigned ?? own.servePresigned },
    sweep: async (now) => (embedded.isInUse('blobs') ? own.sweep(now) : 0),
    close: () => port.close(),
  }));
  return open(deps, capability);
};

export const blobSurface = defineSurface({
  capability: 'blobStorage',
  spellings: BLOB,
  summary:
    'Binary objects in named buckets, and links to them that expire. Each tenant sees its own objects only. Without ' +
    '`bucket`, the first advertised one is used. Bytes are a `Uint8Array`.',
  journal: 'backend',
  opens: openBlobs,
  limits: { maxObjectBytes: OBJECT_BYTES_MAX },
  exceeded: { maxObjectBytes: 'blob_object_too_large' },
  options: { presign: { summary: 'Links that work without a key.', advertises: { presignSupported: true } } },
  errors: [
    'blob_bucket_not_found',
    'blob_object_not_found',
    'blob_object_too_large',
    'blob_presign_expired',
    'blob_quota_exhausted',
  ],
  methods: {
    put: writes(
      'Stores an object, replacing one with the same key. `url` is its address; reading it requires a link.',
      { ...Target, bytes: s.Bytes, contentType: ContentType },
      { url: s.Text, sizeBytes: s.Whole },
      { idempotent: true },
    ),
    get: reads(
      'The object; a missing one is `blob_object_not_found`. Without `bucket` it is `find`: the object in the first ' +
        'bucket, and for a missing one `{ found: false }`.',
      Target,
      { bytes: s.Bytes, contentType: ContentType },
    ),
    find: reads('The object, if there is one.', Target, {
      found: s.Flag,
      bytes: optional(s.Bytes),
      contentType: ContentType,
    }),
    delete: writes('Removes an object.', Target, { deleted: s.Flag }, { idempotent: true }),
    list: reads(
      `Keys in byte order, page by page. ${s.PAGES}`,
      { bucket: Bucket, prefix: optional(s.Prefix), ...s.Paging },
      { entries: s.listOf({ key: s.Text, sizeBytes: s.Whole }), ...s.Following },
    ),
    presign: reads(
      'A link that gets the object, or puts it, without a key, until it expires. A week is the longest. A node that ' +
        'is declared pure gets no link that puts.',
      {
        ...Target,
        expiresInSeconds: s.whole(1, LINK_SECONDS_MAX),
        method: Type.Union([Type.Literal('GET'), Type.Literal('PUT')]),
      },
      { url: s.Text, expiresAt: s.Timestamp },
      { needs: 'presign' },
    ),
  },
});

interface GivenTarget {
  readonly bucket?: string;
  readonly key: string;
}

interface BlobOptions extends Over<BlobPort> {
  /** The first is the default. */
  readonly buckets: readonly string[];
}

/** Creating a link changes nothing, but its holder may write. */
const PUT_LINK = {
  path: 'storage.blob.presign',
  capability: 'host.blobStorage.presign',
  what: 'write by link',
};

export function implementBlobs({ port, cursors, buckets }: BlobOptions): ImplementedSurface {
  const bucketOf = (bucket = buckets[0]): string => {
    if (bucket !== undefined && buckets.includes(bucket)) return bucket;
    throw new OpenwopError('blob_bucket_not_found', { details: { buckets: [...buckets] } });
  };
  const targetOf = ({ bucket, key }: GivenTarget): BlobTarget => {
    const target = { bucket: bucketOf(bucket), key };
    checkKey(key);
    return target;
  };
  const find = async (input: GivenTarget, call: ReadCall) => {
    const found = await port.get(targetOf(input), call, contentRoom.for(call));
    return (
      found && { bytes: found.bytes, ...(found.contentType !== null && { contentType: found.contentType }) }
    );
  };
  return blobSurface.implement(
    {
      async put({ bytes, contentType, ...target }, call) {
        const object = { ...targetOf(target), bytes, contentType: contentTypeOf(contentType) };
        blobSurface.check('maxObjectBytes', bytes.byteLength);
        const { sizeBytes } = await port.put(object, call);
        return { url: await port.addressOf(object, call.tenant), sizeBytes };
      },
      async get(input, call) {
        const found = await find(input, call);
        if (found === null) throw new OpenwopError('blob_object_not_found');
        return found;
      },
      async find(input, call) {
        const found = await find(input, call);
        return { found: found !== null, ...found };
      },
      delete: async (input, call) => port.delete(targetOf(input), call),
      async list({ bucket: given, prefix = '', ...asked }, call) {
        const bucket = bucketOf(given);
        const { page, ...next } = await pageByKey(cursors, asked, {
          scope: [call.tenant, 'blob.list', bucket, prefix],
          list: (range) => port.list({ bucket, prefix, ...range }, call),
          keyOf: ({ key }) => key,
        });
        return { entries: [...page], ...next };
      },
      async presign({ expiresInSeconds: seconds, method, ...input }, call) {
        if (method === 'PUT' && call.caller.kind === 'node' && call.caller.effect === 'pure')
          throw notPure(call.caller, PUT_LINK);
        const url = await port.presign({ ...targetOf(input), method, seconds }, call);
        return { url, expiresAt: isoTime(call.now + seconds * 1_000) };
      },
    },
    { journalOf: () => port.journal, advertises: { buckets: buckets.map((name) => ({ name })) } },
  );
}
