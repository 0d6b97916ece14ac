/** What the user in the URL must be allowed to do, and what is said when it is not. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, type TestContext, test } from 'node:test';
import postgres from 'postgres';
import { freshDatabase } from '../../../store/src/testing/postgres-server.ts';
import { openPostgresDatabase } from './connection.ts';

const found = await freshDatabase();

describe('the rights of the user', { skip: 'skip' in found && found.skip }, () => {
  const name = `app_${randomBytes(4).toString('hex')}`;
  const url = 'url' in found ? found.url : 'postgres://db/none';
  const database = new URL(url).pathname.slice(1);
  const admin = postgres(url, { max: 1, onnotice: () => {} });
  before(async () => {
    await admin.unsafe(
      `create role ${name} login password 'hush'; revoke all on database ${database} from public`,
    );
  });
  after(async () => {
    await admin.unsafe(`drop owned by ${name} cascade; drop role ${name}`);
    await admin.end();
    if ('drop' in found) await found.drop();
  });

  function health(t: TestContext): Promise<void> {
    const opened = openPostgresDatabase({
      url: Object.assign(new URL(url), { username: name, password: 'hush' }).href,
    });
    t.after(opened.close);
    return opened.health();
  }

  test('CONNECT always, CREATE for the first start alone', async (t) => {
    await assert.rejects(health(t), {
      message: /does not let the user connect to the database\. Grant it CONNECT/,
    });
    await admin.unsafe(`grant connect on database ${database} to ${name}`);
    await assert.rejects(health(t), {
      message: /Grant it CREATE on the database if there is no such schema yet/,
    });
    await admin.unsafe(`grant create on database ${database} to ${name}`);
    await health(t);
    await admin.unsafe(`revoke create on database ${database} from ${name}`);
    await health(t);
  });

  test('a schema that somebody made for it will do', async (t) => {
    await admin.unsafe(
      `drop schema gantry_surfaces cascade; create schema gantry_surfaces authorization ${name}`,
    );
    await health(t);
  });
});
