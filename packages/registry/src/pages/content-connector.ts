import { connectorOf } from '../catalogue/summary.ts';
import { member, textAt, textsAt, wordFor } from '../json-values.ts';
import { type Html, html } from './html.ts';
import { itemHead, traits } from './items.ts';
import { manifestOf, type PackView } from './view.ts';

const SIGN_IN: Readonly<Record<string, string>> = {
  oauth2: 'OAuth, at the provider',
  credential: 'a stored credential',
};

/** What the pack integrates with, how people sign in, and what it does there. */
export function connectorSection(view: PackView): Html {
  const connector = connectorOf(manifestOf(view));
  if (!connector) return html``;
  const auth = member(member(manifestOf(view), 'connector'), 'auth');
  const { id, displayName, authType, actions } = connector;
  return html`<section aria-labelledby="connector"><h2 id="connector">Connector</h2><article class="item">
${itemHead({ id, label: displayName })}
${traits({
  'Signs in': authType === undefined ? 'not needed' : wordFor(SIGN_IN, authType),
  Provider: textAt(auth, 'provider'),
  Scopes: textsAt(auth, 'scopes').join(', '),
  Actions: actions.map((action) => action.displayName).join(', '),
})}
</article></section>`;
}
