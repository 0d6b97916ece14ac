/** Kinds of packs with data and no code. */
import type { JsonObject } from '@gantry/protocol';
import { isTrueAt, member, objectsAt, shorten, textAt, textsAt, wordFor } from '../json-values.ts';
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

/** Fields of forms and cards, variables of prompts: the same table as for schemas. */
function fieldTable(title: string, fields: readonly JsonObject[], id: string): Html {
  if (fields.length === 0) return html``;
  const properties = Object.fromEntries(
    fields.map((field): [string, JsonObject] => {
      const description = textAt(field, 'description') ?? textAt(field, 'label');
      const options = textsAt(field, 'options');
      const shape: JsonObject = {
        type: textAt(field, 'type') ?? 'text',
        ...(options.length > 0 && { enum: options }),
        ...(description !== undefined && { description }),
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
