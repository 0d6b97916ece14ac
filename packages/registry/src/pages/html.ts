/** Helpers for the pages of the registry. */
import { type Html, html } from '@gantry/http';

export { Html, html } from '@gantry/http';

/** Only http and https addresses become links; others, such as `javascript:`, stay text. */
export function link(address: string, label: string | Html = address): Html {
  if (!/^https?:\/\/[^\s]+$/i.test(address) || !URL.canParse(address)) return html`${label}`;
  return html`<a href="${address}" rel="noopener noreferrer nofollow ugc">${label}</a>`;
}

/** A name that may wrap after its dots. */
export const breakable = (name: string): Html =>
  html`${name.split('.').map((part, index) => (index === 0 ? part : html`.<wbr>${part}`))}`;

export const packPath = (name: string, version?: string): string =>
  version === undefined
    ? `/packs/${encodeURIComponent(name)}`
    : `/packs/${encodeURIComponent(name)}/${encodeURIComponent(version)}`;
