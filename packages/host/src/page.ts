/** The frame of the HTML pages: plain HTML, without scripts and external resources. */
import { hash } from 'node:crypto';
import { Html, html, TOKENS } from '@gantry/http';
import { OpenwopError } from '@gantry/protocol';
import type { FastifyRequest } from 'fastify';

const STYLE =
  TOKENS +
  'body{font:16px/1.5 system-ui,sans-serif;max-width:36rem;margin:3rem auto;padding:0 1rem;color:var(--text);background:var(--page)}' +
  'h1{font-size:1.5rem;overflow-wrap:anywhere}h2{font-size:1rem;margin-bottom:.25rem}' +
  'dl{display:grid;grid-template-columns:max-content 1fr;gap:.25rem 1rem}dt{color:var(--quiet)}dd{margin:0;overflow-wrap:anywhere}' +
  'label{display:block;margin-top:1rem}textarea,input,select{box-sizing:border-box;width:100%;min-height:2.75rem;font:inherit;color:inherit;background:var(--panel);border:1px solid var(--edge);border-radius:.4rem;padding:.5rem}' +
  'button{font:inherit;min-height:3rem;padding:.6rem 1.2rem;margin:.5rem .5rem 0 0;border:1px solid var(--accent);border-radius:.4rem;background:var(--accent);color:var(--on-accent);cursor:pointer}' +
  'button.other{background:var(--page);color:var(--accent)}' +
  'code,pre{background:var(--sunken);overflow-wrap:anywhere}code{padding:.1rem .3rem}pre{padding:.75rem;white-space:pre-wrap}' +
  '.text{white-space:pre-wrap;overflow-wrap:anywhere}.problem{color:var(--bad);font-weight:600}';

/** Forms can be sent only to this host. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': `default-src 'none'; style-src 'sha256-${hash('sha256', STYLE, 'base64')}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-robots-tag': 'noindex',
};

export const page = (title: string, main: Html, head?: Html): string =>
  html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title}</title>${head}<style>${new Html(STYLE)}</style></head>
<body><main><h1>${title}</h1>
${main}</main></body></html>
`.markup;

/**
 * Refuses a form that a page of another site sent. The URL is the only credential, and no other page knows it; what the
 * browser says is checked anyway. Browsers that say nothing about the site may name the origin, or `null`.
 */
export function refuseOtherSites({ headers }: FastifyRequest): void {
  const { origin, host, 'sec-fetch-site': site } = headers;
  const isOwn =
    site === undefined
      ? origin === undefined || origin === 'null' || URL.parse(origin)?.host === host
      : site === 'same-origin' || site === 'none';
  if (!isOwn) throw new OpenwopError('forbidden', { message: 'Answer on the page that the link opens.' });
}
