import type { JsonObject } from '@gantry/protocol';
import { entriesAt, isTrueAt, member, objectsAt, textAt } from '../json-values.ts';
import { type Html, html } from './html.ts';
import { itemsSection, paragraph } from './items.ts';
import { schemaTable } from './schema-table.ts';
import type { PackView } from './view.ts';

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
