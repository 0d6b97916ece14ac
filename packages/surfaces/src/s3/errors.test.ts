import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { ServerError } from '../backend-errors.ts';
import { freshFolder } from '../testing/data-dir.ts';
import { openS3Blobs } from './blobs.ts';
import { asked } from './errors.ts';

const AWS = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_PROFILE', 'AWS_REGION', 'AWS_DEFAULT_REGION'];

/** As on a machine where nobody has told the AWS tools anything. */
function withoutAws(t: TestContext): void {
  const before = process.env;
  const folder = freshFolder();
  t.after(() => {
    process.env = before;
    folder.remove();
  });
  process.env = {
    ...Object.fromEntries(Object.entries(before).filter(([name]) => !AWS.includes(name))),
    AWS_EC2_METADATA_DISABLED: 'true',
    AWS_CONFIG_FILE: join(folder.path, 'config'),
    AWS_SHARED_CREDENTIALS_FILE: join(folder.path, 'credentials'),
  };
}

test('a host without credentials is told which to set', async (t) => {
  withoutAws(t);
  const address = { bucket: 'objects', prefix: '', endpoint: 'http://127.0.0.1:1' };
  const port = await openS3Blobs(address);
  t.after(port.close);
  await assert.rejects(port.health(), (error) => {
    assert.ok(error instanceof ServerError);
    assert.match(
      error.message,
      /^S3 at http:\S+objects cannot be asked: no credentials were found\. Set AWS_ACC/,
    );
    assert.match(error.forPack().message, /^S3 cannot be asked/);
    return true;
  });
});

test('Amazon without a region is told so, since nothing could be asked of it', async (t) => {
  withoutAws(t);
  await assert.rejects(
    openS3Blobs({ bucket: 'objects', prefix: '' }),
    /no usable `region`.*AWS_REGION.*as in s3:/,
  );
  process.env.AWS_REGION = 'eu-west-1';
  await (await openS3Blobs({ bucket: 'objects', prefix: '' })).close();
});

test('an error without a name of its own is told by its text', async () => {
  const failing = asked({ bucket: 'objects', prefix: '' }, () =>
    Promise.reject(new Error('Nothing resolves')),
  );
  await assert.rejects(failing, { code: 'storage_unavailable', message: /\(Nothing resolves\)/ });
});

test('a certificate that is refused is no outage, and says what to do', async () => {
  const failed = (code: string) =>
    asked({ bucket: 'objects', prefix: '' }, () => Promise.reject(Object.assign(new Error('no'), { code })));
  await assert.rejects(failed('DEPTH_ZERO_SELF_SIGNED_CERT'), {
    trouble: 'rejected',
    message: /^S3 at \S+ has a certificate of an unknown authority .*NODE_EXTRA_CA_CERTS/,
  });
  await assert.rejects(failed('EPROTO'), { trouble: 'rejected', message: /does not speak TLS there/ });
  await assert.rejects(failed('ECONNREFUSED'), { trouble: 'unreachable' });
});
