/** `ctx.http`: requests to public servers, and `fetch` of packs that were granted the network. */
import { type Egress, METHODS } from '@gantry/egress';
import { acts, defineSurface, type ImplementedSurface } from '../../calls/define-surface.ts';
import type { OpenSurface } from '../../open-port.ts';
import type { HttpCredentials } from './credential.ts';
import { exchange, HTTP_INPUT, HTTP_LIMITS, HTTP_OUTPUT, httpTool } from './exchange.ts';

export const httpSurface = defineSurface({
  capability: 'httpClient',
  summary:
    'Requests over https to public addresses; every address of a name is checked, also after a redirect. Nothing opens private ones. ' +
    'Each call stands in the log of the run, the ones that were refused too.',
  journal: 'host',
  consumesSecrets: true,
  opens: async ({ egress, credentials }) => ({
    implement: () => implementHttp(egress.public, credentials),
    backends: [],
  }),
  limits: HTTP_LIMITS,
  errors: [
    'ssrf_blocked',
    'fetch_failed',
    'effect_in_doubt',
    'rate_limited',
    'credential_not_found',
    'credential_forbidden',
    'credential_unavailable',
    'connector_auth_expired',
    'connector_unavailable',
  ],
  methods: {
    safeFetch: acts(
      'As `fetch(url, init)`, with `method`, `headers`, `body`, `redirect` and `signal` of `init`. ' +
        '`credential: { ref }`, or `{{credential:REF}}` at the end of a header, sends a credential to its audiences. ' +
        'After a crash GET, HEAD and OPTIONS are repeated; another method fails with `effect_in_doubt` unless its answer ' +
        'was recorded.',
      HTTP_INPUT,
      HTTP_OUTPUT,
      { kind: 'response', positional: ['url', 'init'], tool: httpTool('http.safeFetch') },
    ),
  },
});

export function implementHttp(egress: Egress, credentials?: HttpCredentials): ImplementedSurface {
  return httpSurface.implement(
    {
      safeFetch: (input, call) =>
        exchange({ egress, credentials, inspect: credentials?.inspect }, input, call),
    },
    {
      advertises: {
        ssrfGuard: true,
        methods: [...METHODS],
        safeFetch: { supported: true },
        ...(credentials && { egressPolicy: { supported: true, decisions: [...credentials.decisions] } }),
      },
    },
  );
}

export const rawFetchSurface = defineSurface({
  capability: 'net',
  path: 'net',
  aliases: [],
  primitive: true,
  summary: '`fetch` of packs that were granted `net.outbound`.',
  journal: 'host',
  consumesSecrets: true,
  limits: {},
  errors: ['ssrf_blocked', 'fetch_failed', 'effect_in_doubt', 'rate_limited', 'credential_forbidden'],
  methods: {
    fetch: acts('As `fetch(url, init)`.', HTTP_INPUT, HTTP_OUTPUT, {
      kind: 'response',
      positional: ['url', 'init'],
      tool: httpTool('fetch'),
    }),
  },
});

export const openRawFetch: OpenSurface = async ({ egress, credentials }) => ({
  implement: () => {
    const terms = { egress: egress.for('raw-fetch'), inspect: credentials?.inspect };
    return rawFetchSurface.implement({ fetch: (input, call) => exchange(terms, input, call) });
  },
  backends: [],
});
