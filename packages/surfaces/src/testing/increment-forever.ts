/** A process that increments one counter, many times at once, and says which calls were acknowledged. */
import { openEmbeddedDatabase } from '../sqlite/database.ts';
import { embeddedKv } from '../sqlite/kv.ts';
import { write } from './calls.ts';

const LANES = 8;
const [dataDir = '', first = '0'] = process.argv.slice(2);
const database = await openEmbeddedDatabase({ dataDir });
const kv = embeddedKv(database, { quotaBytes: 1_000_000 });
let next = Number(first);

async function lane(): Promise<never> {
  for (;;) {
    const id = next++;
    await kv.increment({ namespace: '', key: 'n', delta: 1 }, write('acme', { id: `call-${id}` }));
    // A reader that is slow fills the pipe; what waits here then would be lost with the process
    await new Promise((done) => process.stdout.write(`${id}\n`, done));
  }
}
await Promise.all(Array.from({ length: LANES }, lane));
