/** A host that is connected to a real provider on this machine, and a browser that goes between the two. */
import assert from 'node:assert/strict';
import { readAllowList } from '@gantry/egress';
import type { Connecting, JsonObject } from '@gantry/protocol';
import { declaredArchive } from '../../packs/connections/testing/declared-archive.ts';
import { type PackTest, packTest } from '../../packs/testing/pack-test.ts';
import type { Settings } from '../../settings.ts';
import type { Lifetime } from '../../testing/one-per-file.ts';
import { CLIENT, type ProviderOptions, type ProviderServer, providerServer } from './provider-server.ts';

export const PUBLIC_URL = 'https://gantry.example';
export const CONNECTIONS_URL = '/v1/host/gantry/connections';
export const CLIENTS_URL = '/v1/host/gantry/oauth-clients';
export const redirectUri = (provider: string): string =>
  `${PUBLIC_URL}/v1/host/gantry/authorize/callback/${provider}`;

const group = (key: string, scope: string) => ({ key, label: `${key} entries`, scopes: [scope] });

/** A connection pack; its addresses are those of nobody. */
export const acmeProvider = (over: JsonObject = {}): JsonObject => ({
  id: 'acme',
  displayName: 'Acme <Ltd>',
  category: 'crm',
  auth: {
    kind: 'oauth2',
    authFlow: 'pkce',
    endpoints: {
      authorize: 'https://login.acme.example/authorize',
      token: 'https://login.acme.example/token',
    },
    scopes: { read: [group('look', 'entries.read')], write: [group('change', 'entries.write')] },
  },
  reach: { integration: { node: 'vendor.acme.call' } },
  apiHosts: ['api.acme.example'],
  ...over,
});

export interface OAuthTest extends PackTest {
  readonly provider: ProviderServer;
  /** Installs a connection pack for this provider and configures the client there. */
  configured(over?: JsonObject): Promise<void>;
  connect(request?: JsonObject): Promise<Connecting>;
  /** Consents in a browser of its own; answers the callback that the provider sends it to. */
  consent(authorizeUrl: string, browser?: Browser): Promise<string>;
  /** The page that a browser shows for an address of this host. */
  page(
    url: string,
    browser?: Browser,
    method?: 'GET' | 'POST',
  ): Promise<{ status: number; body: string; headers: Record<string, unknown> }>;
  /** Every token is as old as it gets. */
  outlive(): void;
  /** All of it; answers the id of the connection. */
  connected(request?: JsonObject): Promise<string>;
}

export async function oauthTest(
  t: Lifetime,
  options: Partial<ProviderOptions> & { settings?: Partial<Settings> } = {},
): Promise<OAuthTest> {
  const provider = await providerServer(t, { redirectUris: ['acme', 'robot'].map(redirectUri), ...options });
  const settings = {
    publicUrl: PUBLIC_URL,
    egressAllow: readAllowList(`oauth=${provider.origin}`),
    ...options.settings,
  };
  let offsetMs = 0;
  const api = await packTest(t, { settings, now: () => Date.now() + offsetMs });
  let packs = 0;

  const page: OAuthTest['page'] = async (url, browser = new Browser(), method = 'GET') => {
    const answer = await api.host.app.inject({
      method,
      url: url.replace(PUBLIC_URL, ''),
      headers: {
        ...browser.headers(PUBLIC_URL),
        ...(method === 'POST' && { 'content-type': 'application/x-www-form-urlencoded' }),
      },
    });
    browser.keep(PUBLIC_URL, [answer.headers['set-cookie'] ?? []].flat().map(String));
    return { status: answer.statusCode, body: answer.body, headers: answer.headers };
  };
  const test: OAuthTest = {
    ...api,
    provider,
    page,
    outlive() {
      offsetMs += 3_600_000;
    },
    async configured(over = {}) {
      const described = acmeProvider(over);
      const name = `vendor.acme.connection-${packs++}`;
      const installed = await api.upload(
        await declaredArchive({ name, kind: 'connection', provider: described }),
      );
      assert.equal(installed.statusCode, 201, installed.body);
      const { authorizeUrl, tokenUrl } = provider;
      const client = { provider: described.id, ...CLIENT, authorizeUrl, tokenUrl, issuer: provider.origin };
      const answer = await api.post(CLIENTS_URL, client);
      assert.equal(answer.statusCode, 200, answer.body);
    },
    async connect(request = {}) {
      const answer = await api.post(CONNECTIONS_URL, { provider: 'acme', ...request });
      assert.equal(answer.statusCode, 201, answer.body);
      return answer.json();
    },
    async consent(authorizeUrl, browser = new Browser()) {
      assert.equal((await page(authorizeUrl, browser)).status, 200);
      const going = await page(authorizeUrl, browser, 'POST');
      return browser.follow(hrefIn(going.body), PUBLIC_URL);
    },
    async connected(request) {
      const browser = new Browser();
      const { authorizeUrl = '' } = await test.connect(request);
      const done = await page(await test.consent(authorizeUrl, browser), browser);
      assert.equal(done.status, 200, done.body);
      return /conn_[0-9a-f]+/.exec(done.body)?.[0] ?? '';
    },
  };
  return test;
}

export const hrefIn = (body: string): string =>
  (/href="([^"]+)"/.exec(body)?.[1] ?? '').replaceAll('&amp;', '&');

/** Cookies by origin, and redirects. */
export class Browser {
  readonly #cookies = new Map<string, Map<string, string>>();

  headers(origin: string): Record<string, string> {
    const kept = [...(this.#cookies.get(origin) ?? [])].map(([name, value]) => `${name}=${value}`);
    return kept.length > 0 ? { cookie: kept.join('; ') } : {};
  }

  keep(origin: string, setCookies: readonly string[]): void {
    const kept = this.#cookies.get(origin) ?? new Map<string, string>();
    for (const cookie of setCookies) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (/max-age=0/i.test(cookie)) kept.delete(name);
      else kept.set(name, value);
    }
    this.#cookies.set(origin, kept);
  }

  /** Until an address of `end`. */
  async follow(start: string, end: string): Promise<string> {
    let url = start;
    while (!url.startsWith(end)) {
      const { origin } = new URL(url);
      const answer = await fetch(url, { redirect: 'manual', headers: this.headers(origin) });
      this.keep(origin, answer.headers.getSetCookie());
      const location = answer.headers.get('location');
      assert.ok(location !== null, `${url} answered ${answer.status}: ${await answer.text()}`);
      url = new URL(location, url).href;
    }
    return url;
  }
}
