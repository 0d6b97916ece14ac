/** Receivers on this machine: what they got, and how they answer. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { httpServer } from '../../../../egress/src/testing/server.ts';

export interface Got {
  readonly url: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

/** Answers with what `answer` says, which may wait; what is posted is kept. */
export async function webReceiver(
  t: TestContext,
  answer: (got: Got) => number | Promise<number> = () => 204,
) {
  const got: Got[] = [];
  const port = await httpServer(t, (request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', async () => {
      const message = { url: request.url ?? '', headers: request.headers, body };
      if (request.method === 'POST') got.push(message);
      response.statusCode = await answer(message);
      response.end();
    });
  });
  return { url: `http://127.0.0.1:${port}`, got };
}

export interface Mail {
  readonly from: string;
  readonly to: readonly string[];
  readonly text: string;
  readonly user: string | undefined;
  readonly secure: boolean;
}

export async function mailReceiver(t: TestContext, options: SMTPServerOptions = {}) {
  const got: Mail[] = [];
  const server = new SMTPServer({
    authOptional: true,
    logger: false,
    onData(stream, session, done) {
      let text = '';
      stream.on('data', (chunk) => {
        text += chunk;
      });
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        const from = mailFrom === false ? '' : mailFrom.address;
        const to = rcptTo.map(({ address }) => address);
        got.push({ from, to, text, user: session.user, secure: session.secure });
        done();
      });
    },
    ...options,
  });
  server.on('error', () => {});
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  t.after(() => new Promise<void>((resolve) => server.close(resolve)));
  const { port } = server.server.address() as AddressInfo;
  return { port, url: `smtp://127.0.0.1:${port}`, got };
}
