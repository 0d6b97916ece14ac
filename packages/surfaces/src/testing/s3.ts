/** A server that speaks S3, in this process. */
import crypto from 'node:crypto';
import S3rver from 's3rver';
import { freshFolder } from './data-dir.ts';

export interface TestS3 {
  readonly host: string;
  readonly port: number;
  close(): Promise<void>;
}

/** The server makes its tokens for further pages with DES, which OpenSSL 3 lacks; the client does not send them back. */
const { createCipheriv } = crypto;
const twice = (bytes: unknown): Buffer => Buffer.concat([bytes as Buffer, bytes as Buffer]);
Object.assign(crypto, {
  createCipheriv: (...args: Parameters<typeof createCipheriv>) =>
    args[0] === 'des'
      ? createCipheriv('aes-128-cbc', twice(args[1]), twice(args[2]))
      : createCipheriv(...args),
});

/** The only key that the server knows. */
export function useTestCredentials(): void {
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER' });
}

export async function openTestS3(bucket: string): Promise<TestS3> {
  const folder = freshFolder();
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory: folder.path,
    configureBuckets: [{ name: bucket }],
  });
  const { address: host, port } = await server.run();
  return {
    host,
    port,
    async close() {
      await server.close();
      folder.remove();
    },
  };
}
