/** Packs that contain data and no code. */
import { given, type JsonObject } from '@gantry/protocol';
import { entriesAt, isTrueAt, member, objectsAt, shorten, textAt, textsAt, wordFor } from '../json-values.ts';
import { schemaAt } from './content-node.ts';
import { type Html, html, link } from './html.ts';
import { itemHead, itemsSection, paragraph, traits } from './items.ts';
import { schemaTable } from './schema-table.ts';
import { manifestOf, type PackView } from './view.ts';

const TEXT_CHARS_MAX = 8_000;

const folded = (title: string, text: string | undefined): Html =>
  text === undefined
    ? html``
    : html`<details><summary>${title}</summary><pre tabindex="0" class="prose"><code>${shorten(text, TEXT_CHARS_MAX)}</code></pre></details>`;

/** Fields of forms and cards and variables of prompts use the same table as schemas. */
function fieldTable(title: string, fields: readonly JsonObject[], id: string): Html {
  if (fields.length === 0) return html``;
  const properties = Object.fromEntries(
    fields.map((field): [string, JsonObject] => {
      const description = textAt(field, 'description') ?? textAt(field, 'label');
      const options = textsAt(field, 'options');
      const shape: JsonObject = {
        type: textAt(field, 'type') ?? 'text',
        ...(options.length > 0 && { enum: options }),
        ...given({ description }),
      };
      return [textAt(field, id) ?? '', shape];
    }),
  );
  const required = fields
    .filter((field) => isTrueAt(field, 'required'))
    .flatMap((field) => textAt(field, id) ?? []);
  return schemaTable(title, { type: 'object', properties, required });
}

export const promptsSection = (view: PackView): Html =>
  itemsSection(view, {
    id: 'prompts',
    title: 'Prompts',
    member: 'prompts',
    name: (prompt) => ({ id: textAt(prompt, 'templateId') ?? '', label: textAt(prompt, 'name') }),
    item: (prompt) => html`${paragraph(textAt(prompt, 'description'))}
${traits({ Kind: textAt(prompt, 'kind'), Version: textAt(prompt, 'version'), Tags: textsAt(prompt, 'tags').join(', ') })}
${fieldTable('Variables', objectsAt(prompt, 'variables'), 'name')}
${folded('Text', textAt(prompt, 'text'))}`,
  });

export const cardsSection = (view: PackView): Html =>
  itemsSection(view, {
    id: 'cards',
    title: 'Cards',
    member: 'cards',
    name: (card) => ({ id: textAt(card, 'cardTypeId') ?? '', label: undefined }),
    item: (card) => html`${traits({ Makes: textAt(card, 'outputArtifactType') })}
${fieldTable('Inputs', objectsAt(card, 'inputs'), 'id')}
${schemaAt(view, card, 'outputSchemaRef', 'Output')}
${folded('Prompt', textAt(member(card, 'prompt'), 'template'))}`,
  });

export const artifactTypesSection = (view: PackView): Html =>
  itemsSection(view, {
    id: 'artifact-types',
    title: 'Artifact types',
    member: 'artifactTypes',
    name: (type) => ({
      id: textAt(type, 'artifactTypeId') ?? '',
      label: textAt(type, 'displayName') ?? textAt(type, 'title'),
    }),
    item: (type) => {
      const schema = member(type, 'schema');
      return html`${traits({
        'Shown as': textAt(member(type, 'rendering'), 'display'),
        'Exported as': [...textsAt(type, 'exportFormats'), ...textsAt(type, 'export')].join(', '),
        'Other members': textAt(type, 'validation') === 'closed' ? 'refused' : 'allowed',
      })}
${schema === undefined ? schemaAt(view, type, 'schemaRef', 'Content') : schemaTable('Content', schema)}`;
    },
  });

export const formsSection = (view: PackView): Html =>
  itemsSection(view, {
    id: 'forms',
    title: 'Forms',
    member: 'templates',
    name: (form) => ({ id: textAt(form, 'templateId') ?? '', label: textAt(form, 'label') }),
    item: (form) => html`${paragraph(textAt(form, 'description') ?? textAt(form, 'title'))}
${fieldTable('Fields', objectsAt(form, 'fields'), 'id')}`,
  });

const SURFACES: Readonly<Record<string, string>> = {
  'artifact-viewer': 'shows artifacts',
  route: 'adds a page',
  'settings-panel': 'adds settings',
  'canvas-preview': 'previews canvases',
};

export const pluginsSection = (view: PackView): Html =>
  itemsSection(view, {
    id: 'plugins',
    title: 'Interface plugins',
    member: 'uiPlugins',
    name: (plugin) => ({ id: textAt(plugin, 'pluginId') ?? '', label: undefined }),
    item: (plugin) =>
      html`${traits({
        Does: wordFor(SURFACES, textAt(plugin, 'surface')),
        'May call': textsAt(plugin, 'hostApi').join(', ') || 'no host API',
        'May connect to': textsAt(plugin, 'connectSrc').join(', ') || 'nothing',
      })}`,
  });

const SIGN_IN: Readonly<Record<string, string>> = {
  oauth2: 'with OAuth',
  api_key: 'with an API key',
  bearer: 'with a bearer token',
  basic: 'with a user name and password',
};

/** A single provider, not a list. */
export function providerSection(view: PackView): Html {
  const provider = member(manifestOf(view), 'provider');
  const auth = member(provider, 'auth');
  const scopes = member(auth, 'scopes');
  const docs = textAt(provider, 'docsUrl');
  const groups = (key: string): string =>
    objectsAt(scopes, key)
      .map((group) => textAt(group, 'label') ?? '')
      .join(', ');
  return html`<section aria-labelledby="provider"><h2 id="provider">Provider</h2><article class="item">
${itemHead({ id: textAt(provider, 'id') ?? '', label: textAt(provider, 'displayName') })}
${traits({
  Category: textAt(provider, 'category'),
  'Signs in': wordFor(SIGN_IN, textAt(auth, 'kind')),
  'May read': groups('read'),
  'May write, after separate consent': groups('write'),
  'Sends credentials only to': textsAt(provider, 'apiHosts').join(', '),
  'Used by': textsAt(provider, 'consumerNodes').join(', '),
})}
${docs !== undefined && html`<p>${link(docs, 'Documentation of the provider')}</p>`}
</article></section>`;
}

const STEPS_MAX = 50;

export function chainsSection(view: PackView): Html {
  return itemsSection(view, {
    id: 'chains',
    title: 'Chains',
    member: 'chains',
    name: (chain) => ({ id: textAt(chain, 'chainId') ?? '', label: textAt(chain, 'label') }),
    item: (chain) => {
      const parameters = member(chain, 'parameters');
      return html`${paragraph(textAt(chain, 'description'))}
${isTrueAt(chain, 'internal') && html`<p class="quiet">Internal: used by other chains of this pack.</p>`}
${parameters !== undefined && schemaTable('Parameters', parameters)}
${steps(chain)}
${outputs(chain)}`;
    },
  });
}

function steps(chain: JsonObject): Html {
  const dag = member(chain, 'dag');
  const nodes = objectsAt(dag, 'nodes');
  const edges = objectsAt(dag, 'edges');
  const nodeOf = (end: string | undefined): string => (end ?? '').split('.', 1)[0] ?? '';
  const before = (id: string): string =>
    [
      ...new Set(
        edges.filter((edge) => nodeOf(textAt(edge, 'to')) === id).map((edge) => nodeOf(textAt(edge, 'from'))),
      ),
    ].join(', ');
  return html`<section class="schema"><h4>Steps</h4>
<div class="scroll" tabindex="0" role="group" aria-label="Steps"><table class="stack">
<thead><tr><th scope="col">Step</th><th scope="col">Type</th><th scope="col">After</th></tr></thead>
<tbody>${nodes.slice(0, STEPS_MAX).map((node) => {
    const id = textAt(node, 'id') ?? '';
    return html`<tr><th scope="row"><code>${id}</code></th><td data-label="Type"><code>${textAt(node, 'typeId')}</code></td><td data-label="After">${before(id) || 'the start'}</td></tr>`;
  })}</tbody></table></div>
${nodes.length > STEPS_MAX && html`<p class="quiet">And ${nodes.length - STEPS_MAX} more.</p>`}</section>`;
}

function outputs(chain: JsonObject): Html {
  const named = entriesAt(chain, 'outputs');
  if (named.length === 0) return html``;
  const properties = Object.fromEntries(named);
  return schemaTable('Outputs', { type: 'object', properties });
}
