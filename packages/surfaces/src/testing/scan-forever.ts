/** A process whose scan takes as long as it may. */
import { EVERYTHING } from '../capabilities/documents/filter.ts';
import { parseQuery } from '../capabilities/search/parse-query.ts';
import { SEARCH_LIMITS } from '../capabilities/search/surface.ts';
import { openDatabase } from '../sqlite/database.ts';
import { embeddedSearch } from '../sqlite/search.ts';
import { read, write } from './calls.ts';

const [dataDir = ''] = process.argv.slice(2);
const search = embeddedSearch(openDatabase({ dataDir, scanMsMax: 60_000 }), SEARCH_LIMITS);
const fields = { text: 'a '.repeat(32_000) };
const documents = Array.from({ length: 120 }, (_, index) => ({ id: `d${index}`, fields }));
await search.index({ index: 'i', documents }, write('acme'));
const query = (text: string, tenant: string) =>
  search.query({ index: 'i', query: parseQuery(text), k: 1, filter: EVERYTHING }, read(tenant));
const endless = query(`"${Array(100).fill('a').join(' ')}"`, 'acme');
// Answered by another process while the first is inside its query
await query('b', 'other').catch(() => {});
process.stdout.write('busy\n');
await endless;
