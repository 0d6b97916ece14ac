/** A process that takes an upload by link, of which the end never comes. Tells when some of it is on the disk. */
import { openEmbeddedBlobs } from '../capabilities/blob/embedded-blobs.ts';
import { openEmbeddedDatabase } from '../sqlite/database.ts';
import { read } from './calls.ts';

const [, , dataDir = '', bucket = '', key = ''] = process.argv;
const database = await openEmbeddedDatabase({ dataDir });
const port = await openEmbeddedBlobs({
  database,
  dataDir,
  quotaBytes: 1e8,
  links: { key: new Uint8Array(32).fill(3), publicUrl: () => '' },
});
const url = await port.presign({ bucket, key, method: 'PUT', seconds: 60 }, read('acme', Date.now()));

async function* body(): AsyncGenerator<Uint8Array> {
  for (;;) {
    yield new Uint8Array(100_000).fill(1);
    process.send?.('more');
    await new Promise(() => setInterval(() => {}, 60_000));
  }
}

await port.servePresigned({ method: 'PUT', url, body: body(), now: Date.now() });
