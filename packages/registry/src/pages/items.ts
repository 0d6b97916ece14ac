/** Lists of the contents of a pack. */

import type { JsonObject } from '@gantry/protocol';
import { objectsAt } from '../json-values.ts';
import { type Html, html } from './html.ts';
import { codeSpans } from './markdown.ts';
import { manifestOf, type PackView } from './view.ts';

/** The manifest contains the rest. */
const ITEMS_MAX = 60;

interface ItemsOptions {
  readonly id: string;
  readonly title: string;
  /** The member of the manifest that lists them. */
  readonly member: string;
  /** `id` is shown alone if there is no label. */
  readonly name: (item: JsonObject) => { readonly id: string; readonly label: string | undefined };
  readonly item: (item: JsonObject) => Html;
}

/** A longer list is folded, so that its headings fit on a screen. */
const OPEN_MAX = 3;

export function itemsSection(view: PackView, { id, title, member, name, item }: ItemsOptions): Html {
  const all = objectsAt(manifestOf(view), member);
  const rest = all.length - ITEMS_MAX;
  if (all.length === 0) return html``;
  return html`<section aria-labelledby="${id}"><h2 id="${id}">${title}</h2>
${all
  .slice(0, ITEMS_MAX)
  .map((found) =>
    all.length > OPEN_MAX
      ? html`<details class="item"><summary>${itemHead(name(found))}</summary>${item(found)}</details>`
      : html`<article class="item">${itemHead(name(found))}${item(found)}</article>`,
  )}
${rest > 0 && html`<p class="quiet">And ${rest} more, which the manifest lists.</p>`}</section>`;
}

/** The heading of an item: its label and its id. */
export const itemHead = ({ id, label }: ReturnType<ItemsOptions['name']>): Html =>
  label === undefined || label === id
    ? html`<h3><code>${id}</code></h3>`
    : html`<h3>${label} <span class="id"><code>${id}</code></span></h3>`;

export const paragraph = (text: string | undefined): Html =>
  text === undefined ? html`` : html`<p dir="auto">${codeSpans(text)}</p>`;

/** Names and values, one line each, without absent values. */
export function traits(pairs: Readonly<Record<string, string | undefined>>): Html {
  const known = Object.entries(pairs).filter(([, value]) => value !== undefined && value !== '');
  if (known.length === 0) return html``;
  return html`<dl class="traits">${known.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}
