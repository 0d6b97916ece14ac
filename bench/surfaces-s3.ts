/** An S3 server in this process, and the client of its maker. */
import type { OpenedBackend } from './surfaces-backends.ts';
import { OBJECT_BYTES, placeOf } from './surfaces-works.ts';

export async function openS3(): Promise<OpenedBackend> {
  const { openTestS3, useTestCredentials } = await import('../packages/surfaces/src/testing/s3.ts');
  useTestCredentials();
  const server = await openTestS3('objects');
  const endpoint = `http://${server.host}:${server.port}`;
  const { GetObjectCommand, PutObjectCommand, S3Client } = await import('@aws-sdk/client-s3');
  const client = new S3Client({ endpoint, forcePathStyle: true, region: 'us-east-1' });
  const Body = new Uint8Array(OBJECT_BYTES);
  const objectOf = (lane: number, turn: number) => ({
    Bucket: 'objects',
    Key: `direct/o${placeOf(lane, turn)}`,
  });
  return {
    settings: { blobs: `s3://objects/own?endpoint=${endpoint}` },
    works: {
      'blob put': async (...at) => {
        await client.send(new PutObjectCommand({ ...objectOf(...at), Body }));
        return 1;
      },
      'blob get': async (...at) => {
        const { Body: found } = await client.send(new GetObjectCommand(objectOf(...at)));
        await found?.transformToByteArray();
        return 1;
      },
    },
    async close() {
      client.destroy();
      await server.close();
    },
  };
}
