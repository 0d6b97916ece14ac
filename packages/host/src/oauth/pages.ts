/** The pages that a person sees while a connection is authorized. */
import { type Html, html } from '@gantry/http';
import { page } from '../page.ts';
import type { Problem } from './authorization.ts';

export interface ConsentView {
  readonly tenant: string;
  readonly workspace: string;
  readonly principal: string;
  readonly scope: 'user' | 'workspace';
  readonly provider: { readonly id: string; readonly displayName: string; readonly signsInAt: string };
  readonly writes: boolean;
  /** With the labels of the provider's pack. */
  readonly scopes: readonly { readonly scope: string; readonly label?: string }[];
}

/** The form submits to the URL of the page itself. It does not redirect to the provider; see `goingPage`. */
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

/** An intermediate page: browsers apply `form-action` to redirects of a form, and providers redirect further. */
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
