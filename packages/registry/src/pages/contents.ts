/** The contents of a pack, by its kind. */
import type { PackKind } from '@gantry/packs';
import { chainsSection } from './content-chain.ts';
import {
  artifactTypesSection,
  cardsSection,
  formsSection,
  pluginsSection,
  promptsSection,
  providerSection,
} from './content-declarative.ts';
import { agentsSection, nodesSection } from './content-node.ts';
import { type Html, html } from './html.ts';
import type { PackView } from './view.ts';

const SECTIONS: Readonly<Record<PackKind, (view: PackView) => Html>> = {
  node: (view) => html`${nodesSection(view)}${agentsSection(view)}`,
  'workflow-chain': chainsSection,
  prompt: promptsSection,
  'artifact-type': artifactTypesSection,
  card: cardsSection,
  connection: providerSection,
  'frontend-plugin': pluginsSection,
  'form-content': formsSection,
};

export const contentsSection = (view: PackView): Html => SECTIONS[view.version.kind](view);
