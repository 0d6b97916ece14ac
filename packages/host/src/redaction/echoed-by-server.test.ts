/** A server that answers `safeFetch` with the credential that it was sent. */
import { type TestContext, test } from 'node:test';
import {
  onPublicNetwork,
  PUBLIC_ADDRESS,
  publicServer,
  trustPublicServer,
} from '../testing/public-network.ts';
import { afterRestart, type Echo, inSecondProcess } from './testing/echoed-run.ts';

/** Each is echoed in one encoding only. */
const values = {
  plain: 'sk-sf-9Ya5Tn3vKp1cWe7u',
  hex: 'sk-hx-2Bq7Lm4sXd8fGh1j',
  base64: 'sk-b6-5Rt3Vw9zCn6kPy2e',
};

async function echoing(t: TestContext): Promise<Echo> {
  trustPublicServer();
  const origin = await publicServer(t, ({ url = '', headers }, response) => {
    const sent = Buffer.from(String(headers.authorization));
    response.end(url === '/plain' ? sent : sent.toString(url.slice(1) as BufferEncoding));
  });
  const call = `
    told = [];
    for (const ref of ${JSON.stringify(Object.keys(values))})
      told.push(await (await ctx.http.safeFetch(ctx.config.origin + '/' + ref, { credential: { ref } })).text());`;
  return { values, audience: PUBLIC_ADDRESS, call, config: { origin } };
}

await onPublicNetwork(import.meta, () => {
  test('is redacted after a restart', async (t) => afterRestart(t, await echoing(t)));

  test('is redacted in another process', async (t) => inSecondProcess(t, await echoing(t)));
});
