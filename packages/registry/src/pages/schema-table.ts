import type { Json } from '@gantry/protocol';
import { isObject, member, textAt } from '../json-values.ts';
import { type Html, html } from './html.ts';
import { codeSpans } from './markdown.ts';
import { type SchemaRow, schemaRows, typeText } from './schema-type.ts';

const RAW_CHARS_MAX = 20_000;

/** A schema as a table, with the original folded below. */
export function schemaTable(title: string, schema: Json): Html {
  const { rows, isCut } = schemaRows(schema);
  return html`<section class="schema"><h4>${title}</h4>
${about(schema, rows.length)}
${rows.length > 0 && table(title, rows)}
${isCut && html`<p class="quiet">The original below lists all members.</p>`}
${original(schema)}</section>`;
}

function about(schema: Json, rowCount: number): Html {
  const description = isObject(schema) ? textAt(schema, 'description') : undefined;
  const isOpen = isObject(schema) && member(schema, 'additionalProperties') !== false;
  const other = rowCount === 0 ? typeText(schema, schema) : undefined;
  return html`${description !== undefined && html`<p dir="auto">${codeSpans(description)}</p>`}
${other !== undefined && html`<p class="quiet">Takes: ${other === 'object' ? noMembers(isOpen) : other}.</p>`}`;
}

const noMembers = (isOpen: boolean): string => (isOpen ? 'an object with any members' : 'an empty object');

function table(title: string, rows: readonly SchemaRow[]): Html {
  return html`<div class="scroll" tabindex="0" role="group" aria-label="${title}"><table class="stack">
<thead><tr><th scope="col">Name</th><th scope="col">Type</th><th scope="col">Required</th><th scope="col">Description</th></tr></thead>
<tbody>${rows.map(rowOf)}</tbody></table></div>`;
}

const rowOf = ({ path, type, isRequired, description, limits }: SchemaRow): Html => html`<tr>
<th scope="row"><code>${path}</code></th><td data-label="Type">${type}</td><td data-label="Required">${isRequired ? 'yes' : 'no'}</td>
<td dir="auto">${codeSpans(description)}${limits !== '' && html` <span class="limits">${limits}</span>`}</td></tr>`;

function original(schema: Json): Html {
  const text = JSON.stringify(schema, null, 2);
  const shown = text.length <= RAW_CHARS_MAX ? text : `${text.slice(0, RAW_CHARS_MAX)}\n… cut here`;
  return html`<details><summary>Original schema</summary><pre tabindex="0"><code>${shown}</code></pre></details>`;
}
