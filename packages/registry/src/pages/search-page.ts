import type { PackSummary, PublishedVersion } from '../catalogue/catalogue.ts';
import type { RegistryProfile } from '../derived/discovery.ts';
import type { SearchAnswer, SearchQuery } from '../derived/search.ts';
import { shorten } from '../json-values.ts';
import { breakable, type Html, html, packPath } from './html.ts';
import { layout } from './layout.ts';
import { codeSpans } from './markdown.ts';
import { connectorMark, day, KIND_NAMES, kindMark, stateMarks, trustMark } from './marks.ts';

interface SearchView {
  readonly profile: RegistryProfile;
  readonly asked: Omit<SearchQuery, 'limit'>;
  readonly answer: SearchAnswer;
  /** The version shown for each result. */
  readonly versions: ReadonlyMap<string, PublishedVersion>;
}

export function searchPage(view: SearchView): Html {
  const { profile, asked, answer } = view;
  const { q } = asked;
  const main = html`<div class="hero">
<h1>Find a pack</h1>
<p class="lead">Nodes, agents, chains and more for OpenWOP workflows: what they do, what they ask for, and who signed them.</p>
${form(view)}
</div>
<section aria-labelledby="results">
<h2 id="results" class="count">${countText(view)}</h2>
${answer.results.length === 0 ? nothing(view) : html`<ul class="cards">${answer.results.map((pack) => card(pack, view.versions.get(pack.name)))}</ul>`}
${pager(view)}
</section>`;
  return layout(profile.name, {
    title: q === '' ? profile.name : `${shorten(q, 60)} – ${profile.name}`,
    description: `Search the packs of ${profile.name}.`,
    query: q,
    main,
  });
}

const form = ({
  asked: { q, kind },
}: SearchView): Html => html`<form class="search" role="search" action="/" method="get">
<div class="field grow"><label for="q">Search packs</label>
<input id="q" name="q" type="search" value="${q}" maxlength="200" autocomplete="off" placeholder="A word, a pack or a type id"></div>
<div class="field"><label for="kind">Kind</label>
<select id="kind" name="kind"><option value="">Every kind</option>
${Object.entries(KIND_NAMES).map(([value, name]) => html`<option value="${value}"${value === kind && html` selected`}>${name}</option>`)}
</select></div>
<button type="submit">Search</button>
</form>`;

function countText({ asked: { q, kind }, answer }: SearchView): string {
  const packs = answer.total === 1 ? '1 pack' : `${answer.total} packs`;
  const where = kind === undefined ? '' : ` of kind “${KIND_NAMES[kind]}”`;
  if (q.trim() === '') return `${packs}${where}, newest first`;
  return answer.total === 0 ? `Nothing found for “${q}”${where}` : `${packs}${where} for “${q}”`;
}

function nothing({ asked: { q, kind } }: SearchView): Html {
  if (q.trim() === '' && kind === undefined)
    return html`<p class="empty">No packs yet. Publish the first one with <code>gantry pack publish</code>.</p>`;
  return html`<p class="empty">All words must appear in the name, tags, connector, types or description of a pack. Use fewer words, or <a href="/">browse all packs</a>.</p>`;
}

function card(pack: PackSummary, version: PublishedVersion | undefined): Html {
  return html`<li class="card">
<div class="cardhead"><h3><a href="${packPath(pack.name)}">${breakable(pack.name)}</a></h3><span class="version">${pack.latest}</span></div>
<p class="about" dir="auto">${pack.description === '' ? 'No description.' : codeSpans(shorten(pack.description, 280))}</p>
<p class="marks">${kindMark(pack)} ${connectorMark(pack.connector)} ${version !== undefined && trustMark(version)} ${stateMarks({ isDeprecated: pack.deprecated, isYanked: pack.yanked })}</p>
<p class="quiet">${pack.author !== '' && html`${shorten(pack.author, 80)} · `}${pack.license !== '' && html`${shorten(pack.license, 40)} · `}${day(pack.publishedAt)}</p>
</li>`;
}

function pager({ asked: { q, kind, cursor: here }, answer }: SearchView): Html {
  const address = (cursor?: string): string => {
    const query = new URLSearchParams();
    if (q !== '') query.set('q', q);
    if (kind !== undefined) query.set('kind', kind);
    if (cursor !== undefined) query.set('cursor', cursor);
    return `/?${query}`;
  };
  if (here === undefined && answer.nextCursor === undefined) return html``;
  return html`<nav class="pager" aria-label="Pages of results">
${here !== undefined && html`<a href="${address()}">First page</a>`}
${answer.nextCursor !== undefined && html`<a rel="next" href="${address(answer.nextCursor)}">Next page</a>`}
</nav>`;
}
