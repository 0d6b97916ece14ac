/** A server that speaks S3, in a process of its own. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import S3rver from 's3rver';
import './s3.ts';

const [folder = '', port = '0', bucket = ''] = process.argv.slice(2);
writeFileSync(join(folder, 'pid'), String(process.pid));
const server = new S3rver({
  address: '127.0.0.1',
  port: Number(port),
  silent: true,
  directory: join(folder, 'objects'),
  configureBuckets: [{ name: bucket }],
});
await server.run();
