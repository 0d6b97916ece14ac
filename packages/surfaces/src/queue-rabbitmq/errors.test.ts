import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ServerError } from '../backend-errors.ts';
import { rabbitLink } from './connection.ts';
import { explain, explainOpening } from './errors.ts';

const HOST = 'rabbit:5671';

function told(error: unknown): ServerError {
  assert.ok(error instanceof ServerError, String(error));
  assert.equal(error.code, 'queue_backend_unavailable');
  assert.doesNotMatch(error.message, /acme|sesame/);
  assert.doesNotMatch(error.forPack().message, /rabbit:/);
  return error;
}

test('a right that the user lacks is a refusal that names it, and no missing topic', () => {
  const text = (what: string): string =>
    `Operation failed: QueueDeclare; 403 (ACCESS-REFUSED) with message "ACCESS_REFUSED - ${what} to queue 'acme' refused"`;
  const denied = (what: string): Error => Object.assign(new Error(text(what)), { code: 403 });
  for (const explained of [explain, explainOpening]) {
    const { trouble, message } = told(explained(denied('configure access'), HOST));
    assert.equal(trouble, 'refused for good');
    assert.match(message, /a right that is needed \(configure\)\. Give it all three .* set_permissions/);
    assert.match(told(explained(denied('access'), HOST)).message, /a right that is needed\. Give it/);
  }
});

test('a certificate that is refused is no outage, and says what to do', () => {
  const failed = (code: string): Error => Object.assign(new Error('no'), { code });
  const expired = told(explainOpening(failed('CERT_HAS_EXPIRED'), HOST));
  assert.equal(expired.trouble, 'refused');
  assert.match(expired.message, /RabbitMQ at rabbit:5671 has a certificate that has expired/);
  assert.equal(told(explainOpening(failed('ECONNREFUSED'), HOST)).trouble, 'away');
  const reset = told(explainOpening(failed('ECONNRESET'), HOST));
  assert.match(reset.message, /\(ECONNRESET, which may also be because only one side speaks TLS\)/);
});

test('an address has no settings', () => {
  for (const name of ['frameMax', 'cacertfile', 'verify', 'heartbeat'])
    assert.throws(
      () => rabbitLink(`amqps://ada:sesame@${HOST}/?${name}=1`, () => {}),
      ({ message }: Error) => message.includes(`"${name}"`) && !message.includes('sesame'),
    );
});
