/** The pages that a person sees while a connection is authorized: plain HTML, no script, nothing from elsewhere. */
import { hash } from 'node:crypto';
import { Html, html } from '@gantry/http';
import type { Problem } from './authorization.ts';

const STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:36rem;margin:3rem auto;padding:0 1rem;color:#1b1b1f;background:#fff}' +
  'dl{display:grid;grid-template-columns:max-content 1fr;gap:.25rem 1rem}dt{color:#55555f}dd{margin:0;overflow-wrap:anywhere}' +
  'button{font:inherit;padding:.6rem 1.2rem;border:0;border-radius:.4rem;background:#1f4fd1;color:#fff;cursor:pointer}' +
  'code{background:#f0f0f4;padding:.1rem .3rem;overflow-wrap:anywhere}';

/** Forms go to this host alone; what a provider redirects to is not the form's any more (`goingPage`). */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': `default-src 'none'; style-src 'sha256-${hash('sha256', STYLE, 'base64')}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

export interface ConsentView {
  readonly tenant: string;
  readonly workspace: string;
  readonly principal: string;
  readonly scope: 'user' | 'workspace';
  readonly provider: { readonly id: string; readonly displayName: string; readonly signsInAt: string };
  readonly writes: boolean;
  /** With what the provider's pack calls them. */
  readonly scopes: readonly { readonly scope: string; readonly label?: string }[];
}

/** Where the form is sent to is the address of the page itself. */
export function consentPage({ provider, ...view }: ConsentView): string {
  const users =
    view.scope === 'user'
      ? `Only workflows that ${view.principal} starts can use it.`
      : `All workflows of the workspace ${view.workspace} can use it.`;
  return page(
    `Connect ${provider.displayName}`,
    html`<p>This host asks for access to your account at ${provider.displayName}. ${users}</p>
<dl>
<dt>Asked for by</dt><dd>${view.principal}</dd>
<dt>Workspace</dt><dd>${view.workspace} (tenant ${view.tenant})</dd>
<dt>Provider</dt><dd>${provider.displayName} (${provider.id}), at ${provider.signsInAt}</dd>
<dt>Access</dt><dd>${view.writes ? 'Read and write' : 'Read'}</dd>
<dt>Scopes</dt><dd>${view.scopes.length === 0 ? 'Those that the provider gives by itself' : view.scopes.map(scopeLine)}</dd>
</dl>
<p><strong>Go on only if you asked for this yourself.</strong> Else close this page; nothing has happened.</p>
<form method="post"><button type="submit">Continue to ${provider.displayName}</button></form>`,
  );
}

const scopeLine = ({ scope, label }: ConsentView['scopes'][number]): Html =>
  html`${label !== undefined && `${label}: `}<code>${scope}</code><br>`;

/** A page in between: browsers hold redirects of a form to its `form-action`, and providers redirect further. */
export const goingPage = (displayName: string, url: string): string =>
  page(
    `Continue to ${displayName}`,
    html`<p><a href="${url}" rel="noreferrer">Continue to ${displayName}</a></p>`,
    html`<meta http-equiv="refresh" content="0;url=${url}">`,
  );

export const connectedPage = (displayName: string, connectionId: string): string =>
  page(
    `${displayName} is connected`,
    html`<p>Workflows can use it as <code>${connectionId}</code>. You can close this page.</p>`,
  );

const PROBLEMS: Readonly<Record<Problem, string>> = {
  unknown:
    'This link was used already, is older than ten minutes, or does not come from this host. Nothing was stored.',
  'other-browser':
    'This is not the browser in which the connection was begun, or it does not keep cookies. Nothing was stored.',
};

export const problemPage = (problem: Problem): string => failedPage(PROBLEMS[problem]);

export const failedPage = (message: string): string =>
  page(
    'Not connected',
    html`<p>${message}</p><p>To begin again, type: <code>gantry connections connect PROVIDER</code></p>`,
  );

const page = (title: string, main: Html, head?: Html): string =>
  html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title}</title>${head}<style>${new Html(STYLE)}</style></head>
<body><main><h1>${title}</h1>
${main}</main></body></html>
`.markup;
