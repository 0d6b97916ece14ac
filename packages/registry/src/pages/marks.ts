/** Short marks for kind, signature and state. Colour is never the only difference. */
import type { PackKind } from '@gantry/packs';
import type { ConnectorFacet, PackSummary, PublishedVersion } from '../catalogue/catalogue.ts';
import { shorten } from '../json-values.ts';
import { type Html, html } from './html.ts';

export const KIND_NAMES: Readonly<Record<PackKind, string>> = {
  node: 'Nodes and agents',
  'workflow-chain': 'Workflow chains',
  prompt: 'Prompts',
  'artifact-type': 'Artifact types',
  card: 'Cards',
  connection: 'Connection',
  'frontend-plugin': 'Interface plugin',
  'form-content': 'Forms',
};

type Tone = 'good' | 'plain' | 'warn' | 'bad';

const mark = (tone: Tone, text: string): Html => html`<span class="mark ${tone}">${text}</span>`;

/** A node pack is named after its contents. */
export function kindMark({ kind, nodeCount, agentCount }: Contents): Html {
  const name =
    kind !== 'node' || nodeCount * agentCount > 0 ? KIND_NAMES[kind] : agentCount > 0 ? 'Agents' : 'Nodes';
  return html`<span class="kind">${name}</span>`;
}

type Contents = Pick<PackSummary, 'kind' | 'nodeCount' | 'agentCount'>;

/** Names the service that a connector connects to. */
export const connectorMark = (connector: ConnectorFacet | undefined): Html =>
  connector ? html`<span class="kind">Connector: ${shorten(connector.displayName, 60)}</span>` : html``;

export function trustMark({ signing }: Pick<PublishedVersion, 'signing'>): Html {
  if (signing.state === 'verified') return mark('good', '✓ Signature verified');
  return signing.state === 'unsigned'
    ? mark('warn', '! Not signed')
    : mark('warn', '? Signature not checked');
}

export function stateMarks(pack: { readonly isDeprecated: boolean; readonly isYanked: boolean }): Html {
  return html`${pack.isYanked && mark('bad', '✕ Withdrawn')} ${pack.isDeprecated && mark('warn', '! Deprecated')}`;
}

/** A date; the exact time is in its attributes. */
export function day(moment: string): Html {
  const at = new Date(moment);
  if (Number.isNaN(at.getTime())) return html`${moment}`;
  const text = at.toLocaleDateString('en-GB', {
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    timeZone: 'UTC',
  });
  return html`<time datetime="${at.toISOString()}" title="${at.toISOString()}">${text}</time>`;
}
