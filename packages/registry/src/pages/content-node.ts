import { normalizePath } from '@gantry/packs';
import type { Json, JsonObject } from '@gantry/protocol';
import { connectorOf } from '../catalogue/summary.ts';
import { isTrueAt, member, shorten, textAt, textsAt, wordFor } from '../json-values.ts';
import { type Html, html } from './html.ts';
import { itemHead, itemsSection, paragraph, traits } from './items.ts';
import { schemaTable } from './schema-table.ts';
import { manifestOf, type PackView } from './view.ts';

const CAPABILITIES: Readonly<Record<string, string>> = {
  streamable: 'streams its result',
  cacheable: 'its result may be cached',
  'side-effectful': 'has side effects',
  'mcp-exportable': 'can be exported as an MCP tool',
};

export function nodesSection(view: PackView): Html {
  return itemsSection(view, {
    id: 'nodes',
    title: 'Nodes',
    member: 'nodes',
    name: (node) => ({ id: textAt(node, 'typeId') ?? '', label: textAt(node, 'label') }),
    item: (node) => html`${paragraph(textAt(node, 'description'))}
${traits({
  Category: textAt(node, 'category'),
  Role: textAt(node, 'role'),
  Behaviour: textsAt(node, 'capabilities')
    .map((name) => wordFor(CAPABILITIES, name))
    .join(', '),
})}
${schemaAt(view, node, 'inputSchemaRef', 'Inputs')}
${schemaAt(view, node, 'configSchemaRef', 'Configuration')}
${schemaAt(view, node, 'outputSchemaRef', 'Outputs')}`,
  });
}

/** The schema that an item refers to, from the archive. */
export function schemaAt(view: PackView, item: Json | undefined, key: string, title: string): Html {
  const ref = textAt(item, key);
  if (ref === undefined) return html``;
  const schema = view.files.json(normalizePath(ref));
  if (schema !== undefined) return schemaTable(title, schema);
  const why = view.files.isTooLarge ? 'the archive is too large to be shown here' : 'it cannot be shown here';
  return html`<section class="schema"><h4>${title}</h4><p class="quiet">See <code>${ref}</code> in the archive: ${why}.</p></section>`;
}

const MEMORY: Readonly<Record<string, string>> = {
  scratchpad: 'a scratchpad for one task',
  conversation: 'the conversation',
  longTerm: 'long-term memory',
};

export function agentsSection(view: PackView): Html {
  return itemsSection(view, {
    id: 'agents',
    title: 'Agents',
    member: 'agents',
    name: (agent) => ({
      id: textAt(agent, 'agentId') ?? '',
      label: textAt(agent, 'label') ?? textAt(agent, 'persona'),
    }),
    item: (agent) => agentItem(view, agent),
  });
}

function agentItem(view: PackView, agent: JsonObject): Html {
  const tools = textsAt(agent, 'toolAllowlist');
  const memory = member(agent, 'memoryShape');
  const handoff = member(agent, 'handoff');
  return html`${paragraph(textAt(agent, 'description'))}
${traits({
  Model: textAt(agent, 'modelClass'),
  Role: textAt(agent, 'role'),
  Tools: tools.length === 0 ? 'none' : shorten(tools.join(', '), 400),
  Remembers: Object.entries(MEMORY)
    .filter(([name]) => isTrueAt(memory, name))
    .map(([, text]) => text)
    .join(', '),
  Needs: textsAt(agent, 'requiresCapabilities').join(', '),
})}
${schemaAt(view, handoff, 'taskSchemaRef', 'Task')}
${schemaAt(view, handoff, 'returnSchemaRef', 'Result')}`;
}

const SIGN_IN: Readonly<Record<string, string>> = {
  oauth2: 'OAuth, at the provider',
  credential: 'a stored credential',
};

/** The service of a connector, its sign-in, and its actions. */
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
