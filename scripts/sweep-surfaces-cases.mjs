// What the nodes of the public data packs are given, in order, and what they must answer at least; null for what this
// host does not offer yet.
import { PDFDocument, StandardFonts } from 'pdf-lib';
import sharp from 'sharp';

const base64 = (bytes) => Buffer.from(bytes).toString('base64');
const text = (value) => typeof value === 'string' && value.length > 0;
const count = (least) => (value) => Number.isInteger(value) && value >= least;
const list = (length) => (value) => Array.isArray(value) && value.length === length;

const space = { namespace: 'sweep' };
const table = { table: 'sweep' };

/** `inputs` may be made from what earlier cases of the same sweep gave, by node type. */
const STORAGE = [
  [
    'core.storage.kv-set',
    { ...space, ttlSeconds: 60 },
    { key: 'k', value: { n: 1 } },
    { ok: true, replaced: false },
  ],
  ['core.storage.kv-get', space, { key: 'k' }, { found: true, value: { n: 1 }, ttlRemainingMs: count(1) }],
  ['core.storage.kv-list', { ...space, prefix: 'k', limit: 5 }, {}, { keys: ['k'] }],
  ['core.storage.kv-cas', space, { key: 'k', expect: { n: 1 }, set: 'two' }, { swapped: true }],
  ['core.storage.kv-delete', space, { key: 'k' }, { deleted: true }],
  ['core.storage.kv-atomic-increment', { ...space, delta: 2 }, { key: 'n' }, { value: 2, previous: 0 }],
  ['core.storage.table-insert', table, { row: { name: 'ada', age: 36 } }, { id: text }],
  ['core.storage.table-update', table, { filter: { name: 'ada' }, update: { age: 37 } }, { updated: 1 }],
  [
    'core.storage.table-upsert',
    { ...table, keyColumns: ['name'] },
    { row: { name: 'bob', age: 1 } },
    { id: text, inserted: true, updated: false },
  ],
  ['core.storage.table-query', { ...table, limit: 1, orderBy: ['-age'] }, { filter: {} }, { rows: list(1) }],
  ['core.storage.table-count', table, { filter: { age: { $gt: 0 } } }, { count: 2 }],
  ['core.storage.table-delete', table, { filter: { name: 'bob' } }, { deleted: 1 }],
  ['core.storage.cache-put', { ...space, ttlSeconds: 60 }, { key: 'c', value: [1] }, { ok: true }],
  ['core.storage.cache-get', space, { key: 'c' }, { hit: true, value: [1], ageMs: count(0) }],
  ['core.storage.cache-evict', space, {}, { evicted: 1 }],
  [
    'core.storage.blob-put',
    { contentType: 'text/plain' },
    { key: 'a/b.txt', contentBase64: base64('blob') },
    { key: 'a/b.txt', size: 4 },
  ],
  [
    'core.storage.blob-get',
    {},
    { key: 'a/b.txt' },
    { found: true, contentBase64: base64('blob'), contentType: 'text/plain', size: 4 },
  ],
  [
    'core.storage.blob-presign',
    { operation: 'get', ttlSeconds: 60 },
    { key: 'a/b.txt' },
    { url: text, expiresAt: text },
  ],
  ['core.storage.queue-enqueue', { queue: 'jobs' }, { payload: { job: 1 } }, { jobId: text }],
  [
    'core.storage.queue-dequeue',
    { queue: 'jobs', durationMs: 30_000 },
    {},
    { found: true, jobId: text, payload: { job: 1 } },
  ],
];

const source = { datasource: 'primary' };
const docs = { ...source, collection: 'people' };
const near = { collection: 'near' };

const DB = [
  [
    'core.db.sql-execute',
    source,
    { sql: 'create table people (id integer primary key, name text)' },
    { affected: count(0) },
  ],
  [
    'core.db.sql-transaction',
    source,
    { statements: [{ sql: 'insert into people (id, name) values (?, ?)', params: [1, 'ada'] }] },
    { committed: true, results: list(1) },
  ],
  [
    'core.db.sql-query',
    source,
    { sql: 'select name from people where id = ?', params: [1] },
    { rows: [{ name: 'ada' }], rowCount: 1 },
  ],
  [
    'core.db.nosql-insert',
    docs,
    {
      docs: [
        { name: 'ada', age: 36 },
        { name: 'bob', age: 7 },
      ],
    },
    { inserted: 2, ids: list(2) },
  ],
  [
    'core.db.nosql-find',
    { ...docs, limit: 5 },
    { filter: { age: { $gte: 7 } }, projection: { name: 1 }, sort: { age: 1 } },
    { docs: (found) => found[0]?.name === 'bob' && found.length === 2 },
  ],
  [
    'core.db.nosql-update',
    { ...docs, upsert: false },
    { filter: { name: 'ada' }, update: { $set: { age: 37 } } },
    { matched: 1, modified: 1 },
  ],
  ['core.db.nosql-delete', docs, { filter: { name: 'bob' } }, { deleted: 1 }],
  [
    'core.db.search-index',
    { index: 'notes' },
    { id: 'n1', document: { title: 'durable runs', tags: ['a', 'b'] } },
    { indexed: true },
  ],
  [
    'core.db.search-query',
    { index: 'notes', limit: 3 },
    { query: 'durable' },
    { hits: (hits) => hits[0]?.id === 'n1', totalHits: 1 },
  ],
  [
    'core.db.vector-upsert',
    near,
    {
      records: [
        { id: 'v1', vector: [1, 0], metadata: { kind: 'a' } },
        { id: 'v2', vector: [0, 1] },
      ],
    },
    { upserted: 2 },
  ],
  [
    'core.db.vector-query',
    { ...near, topK: 1 },
    { vector: [1, 0], filter: { kind: 'a' } },
    { hits: (hits) => hits[0]?.id === 'v1' },
  ],
  ['core.db.vector-delete', near, { ids: ['v1'] }, { deleted: 1 }],
];

const MESSAGING = [
  [
    'core.messaging.publish',
    { topic: 'orders' },
    { payload: { id: 7 }, headers: { kind: 'new' } },
    { messageId: text },
  ],
  ['core.messaging.consume', { topic: 'orders' }, {}, {}],
  ['core.messaging.ack', {}, taken('orders'), { acked: true }],
  ['core.messaging.publish', { topic: 'orders' }, { payload: { id: 8 } }, { messageId: text }],
  ['core.messaging.nack', { requeue: true }, taken('orders'), { nacked: true }],
  ['core.messaging.dead-letter', {}, taken('orders', { reason: 'poison' }), { routed: true }],
  [
    'core.messaging.stream-publish',
    { stream: 'ticks' },
    { record: { at: 1 }, partitionKey: 'p' },
    { offset: text },
  ],
  ['core.messaging.stream-subscribe', { stream: 'ticks', fromBeginning: true }, {}, {}],
];

/** Takes a message as a node would, and passes its token on where the pack asks for a message id. */
function taken(queue, more = {}) {
  return async ({ run }) => {
    const { messages } = await run('core.storage.queue-dequeue', { queue }, {});
    return { ...more, messageId: messages[0].deliveryToken };
  };
}

const FLOW = [
  [
    'core.flow.merge',
    { mode: 'sql-query', sql: 'select a.name, b.age from input_0 a join input_1 b on a.id = b.id' },
    { inputs: [[{ id: 1, name: 'ada' }], [{ id: 1, age: 36 }]] },
    { merged: [{ name: 'ada', age: 36 }] },
  ],
];

const RAG = [
  [
    'core.rag.loader-file',
    {},
    { path: 'notes/a.txt' },
    { document: (file) => file.content === base64('hello!') },
  ],
  ['core.rag.loader-s3', { bucket: 'artifacts' }, { key: 'a/b.txt' }, { documents: list(1) }],
  [
    'core.rag.splitter-recursive',
    { chunkSize: 3, chunkOverlap: 0 },
    { text: 'a b c d' },
    { chunks: list(2) },
  ],
  ['core.rag.splitter-character', { chunkSize: 2 }, { text: 'abcd' }, { chunks: ['ab', 'cd'] }],
  ['core.rag.splitter-token', { chunkSize: 1, chunkOverlap: 0 }, { text: 'a b' }, { chunks: ['a', 'b'] }],
  ['core.rag.vector-upsert', near, { documents: [{ id: 'd', text: 'durable' }] }, null],
  ['core.rag.vector-query', near, { query: 'durable' }, null],
  ['core.rag.retriever-basic', near, { query: 'durable' }, null],
  ['core.rag.retriever-multi-query', near, { query: 'durable' }, null],
  ['core.rag.retriever-contextual-compression', near, { query: 'durable' }, null],
  ['core.rag.vector-delete', near, { ids: ['v2'] }, { deleted: 1 }],
];

const PACKED = [
  { path: 'a.txt', contentBase64: base64('a') },
  { path: 'notes/empty', contentBase64: '' },
];

const FILES = ({ png, pdf }) => [
  [
    'core.files.write',
    { encoding: 'utf8', mode: 'overwrite' },
    { path: 'notes/a.txt', content: 'hello' },
    { bytes: 5 },
  ],
  ['core.files.write', {}, { path: 'notes/b.bin', content: base64([0, 255]) }, { bytes: 2 }],
  ['core.files.write', { encoding: 'utf8', mode: 'append' }, { path: 'notes/a.txt', content: '!' }, {}],
  ['core.files.read', { encoding: 'utf8' }, { path: 'notes/a.txt' }, { content: 'hello!', size: 6 }],
  ['core.files.read', {}, { path: 'notes/b.bin' }, { content: base64([0, 255]), size: 2 }],
  ['core.files.stat', {}, { path: 'notes/a.txt' }, { exists: true, size: 6, mtime: text }],
  ['core.files.list', { recursive: true }, { path: 'notes' }, { entries: list(2) }],
  ['core.files.delete', {}, { path: 'notes/b.bin' }, { deleted: true }],
  ['core.files.to-base64', {}, { text: 'hi' }, { base64: base64('hi') }],
  ['core.files.from-base64', { outputEncoding: 'utf8' }, { base64: base64('hi') }, { text: 'hi' }],
  ['core.files.detect-mime', {}, { contentBase64: png }, { mimeType: 'image/png' }],
  [
    'core.files.image-resize',
    { width: 4, height: 4, fit: 'fill' },
    { contentBase64: png },
    { contentBase64: text, width: 4, height: 4 },
  ],
  [
    'core.files.image-crop',
    { x: 0, y: 0, width: 2, height: 2 },
    { contentBase64: png },
    { contentBase64: text },
  ],
  [
    'core.files.image-format-convert',
    { to: 'webp', quality: 80 },
    { contentBase64: png },
    { contentType: 'image/webp' },
  ],
  [
    'core.files.pdf-extract-text',
    {},
    { contentBase64: pdf },
    { text: (found) => found.includes('page 1'), pages: 2 },
  ],
  ['core.files.pdf-split', { ranges: ['1', '2'] }, { contentBase64: pdf }, { parts: list(2) }],
  ['core.files.pdf-merge', {}, { parts: [pdf, pdf] }, { contentBase64: text, pages: 4 }],
  ...['zip', 'tar', 'tar-gz'].flatMap((format) => [
    ['core.files.archive-create', { format }, { entries: PACKED }, { contentBase64: text, size: count(1) }],
    [
      'core.files.archive-extract',
      { format },
      async ({ given }) => ({ contentBase64: given['core.files.archive-create']?.contentBase64 ?? '' }),
      { entries: PACKED },
    ],
  ]),
  ['core.files.ftp', { host: 'ftp.example', operation: 'list' }, { path: '/' }, null],
  ['core.files.sftp', { host: 'sftp.example', operation: 'list' }, { path: '/' }, null],
  ['core.files.ssh-run', { host: 'ssh.example' }, { command: 'true' }, null],
];

async function samples() {
  const background = { r: 200, g: 10, b: 10 };
  const png = await sharp({ create: { width: 8, height: 8, channels: 3, background } })
    .png()
    .toBuffer();
  const document = await PDFDocument.create();
  const font = await document.embedFont(StandardFonts.Helvetica);
  for (const page of [1, 2]) document.addPage([200, 200]).drawText(`page ${page}`, { x: 20, y: 100, font });
  return { png: base64(png), pdf: base64(await document.save()) };
}

/** Packs in the order in which they are installed, each with its cases and the capability that it waits for. */
export async function surfaceCases() {
  return [
    ['core.openwop.storage', STORAGE],
    ['core.openwop.db', DB],
    ['core.openwop.messaging', MESSAGING],
    ['core.openwop.flow', FLOW],
    ['core.openwop.files', FILES(await samples())],
    ['core.openwop.rag', RAG, 'aiProviders'],
  ];
}
