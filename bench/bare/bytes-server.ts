/**
 * The bare limit of reading: known bytes for known paths, and nothing in between.
 *
 * node bench/bare/bytes-server.ts --file <JSON of texts by path>
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';

const { values } = parseArgs({ options: { file: { type: 'string' } } });
if (!values.file) throw new Error('--file <JSON of texts by path> is missing');
const texts: Readonly<Record<string, string>> = JSON.parse(readFileSync(values.file, 'utf8'));
const answers = new Map(Object.entries(texts).map(([path, text]) => [path, Buffer.from(text)]));
const nothing = Buffer.alloc(0);

const server = createServer((request, response) => {
  const body = answers.get(request.url ?? '') ?? nothing;
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
  response.end(body);
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  console.log(`bare reads on http://127.0.0.1:${port}`);
});

process.once('SIGTERM', () => {
  server.close();
  server.closeAllConnections();
});
