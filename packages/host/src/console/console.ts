/** The web console: a page for browsers at every address that is not of the API, and the files that it loads. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Api, chooseEncoding, html } from '@gantry/http';
import { OpenwopError } from '@gantry/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { PAGE_HEADERS, page } from '../page.ts';

/** Where `scripts/build-console.mjs` puts it. */
const BUILT = fileURLToPath(new URL('../../../../node_modules/.cache/console', import.meta.url));

/** Nothing from elsewhere, no inline script or style, and no way to turn text into markup or code. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self' blob:",
  "connect-src 'self'",
  "worker-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': POLICY,
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-cache',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};
/** Smallest first. */
const ENCODINGS = ['br', 'gzip'] as const;
const SUFFIX = { br: '.br', gzip: '.gz' } as const;

/** Addresses of the API, whose errors are JSON for everybody. */
const OF_API = /^\/(v1|schemas|assets|\.well-known|healthz|readyz)(\/|$)/;

export interface Console {
  /** The page for a browser that reads an address; undefined for other clients, and for addresses of the API. */
  page(request: FastifyRequest, reply: FastifyReply): Promise<string> | undefined;
  routes(app: Api): void;
  /** What to tell the operator; null when the console can be served. */
  problem(): Promise<string | null>;
}

export function createConsole(folder: string = BUILT): Console {
  const text = async (name: string): Promise<string | undefined> =>
    (await readIfThere(path.join(folder, name)))?.toString('utf8');
  const problem = async (): Promise<string | null> => {
    const failure = await text('failed.txt');
    if (failure !== undefined) return `The console was not built: ${failure.trim()}`;
    return (await text('made.json')) === undefined ? 'The console is not built.' : null;
  };
  return {
    problem,
    page(request, reply) {
      void reply.header('vary', 'Accept');
      if (!isForBrowser(request)) return undefined;
      return built(reply);
    },
    routes(app) {
      app.get('/assets/:file', { exposeHeadRoute: true, schema: ASSET }, (request, reply) =>
        asset(path.join(folder, 'assets', request.params.file), request, reply),
      );
    },
  };

  async function built(reply: FastifyReply): Promise<string> {
    const why = await problem();
    if (why !== null) {
      void reply.code(503).headers(PAGE_HEADERS);
      return notBuilt(why);
    }
    void reply.code(200).headers(HEADERS);
    return JSON.parse((await text('made.json'))!).page;
  }
}

function isForBrowser({ method, headers, url }: FastifyRequest): boolean {
  const isRead = method === 'GET' || method === 'HEAD';
  return isRead && /\btext\/html\b/.test(headers.accept ?? '') && !OF_API.test(url.split('?', 1)[0]!);
}

const notBuilt = (why: string): string =>
  page(
    'The console is not available',
    html`<p>${why}</p>
<p>The API works without it. To build the console, run <code>node scripts/bundle.mjs</code> in the folder of Gantry.</p>
<p>Until then, <code>gantry</code> on the command line does the same: <a href="/.well-known/openwop">what this host can do</a>, <a href="/v1/openapi.json">its operations</a>.</p>`,
  );

/** The name contains the hash of the content, so a copy never changes. */
const ASSET = {
  summary: 'A file of the console',
  params: Type.Object({ file: Type.String({ pattern: '^[\\w-]+\\.(css|js|svg|woff2)$' }) }),
};

async function asset(file: string, request: FastifyRequest, reply: FastifyReply): Promise<Buffer> {
  const encoding = chooseEncoding(request.headers['accept-encoding'], ENCODINGS);
  const compressed = encoding && (await readIfThere(file + SUFFIX[encoding]));
  const content = compressed ?? (await readIfThere(file));
  if (content === null) throw new OpenwopError('not_found');
  if (compressed) void reply.header('content-encoding', encoding);
  void reply.headers({
    'content-type': TYPES[path.extname(file)]!,
    'cache-control': 'public, max-age=31536000, immutable',
    'cross-origin-resource-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
    vary: 'Accept-Encoding',
  });
  return content;
}

async function readIfThere(file: string): Promise<Buffer | null> {
  try {
    return await readFile(file);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}
