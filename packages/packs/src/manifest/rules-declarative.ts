import { isIP } from 'node:net';
import { OpenwopError } from '@gantry/protocol';
import { isChain } from '../workflow-chain/chain.ts';
import { checkChain } from '../workflow-chain/check-chain.ts';
import { ReverseDns } from './fields.ts';
import { type Part, refuseDuplicates } from './issue.ts';

export function checkChains(root: Part): void {
  for (const part of root.parts('chains'))
    try {
      // Schema errors are reported by the schema, member by member.
      if (isChain(part.value)) checkChain(part.value);
    } catch (error) {
      if (!(error instanceof OpenwopError)) throw error;
      part.refuse('', error.message, error.code);
    }
}

const TEMPLATE_INVALID = 'prompt_template_invalid';
const PLACEHOLDER = /\{\{\s*([a-zA-Z_][a-zA-Z0-9_.]*)\s*\}\}/g;
const placeholders = (template: string): string[] =>
  [...template.matchAll(PLACEHOLDER)].map(([, name]) => name ?? '');

export function checkPrompts(root: Part): void {
  for (const prompt of root.parts('prompts')) {
    const declared = new Set(prompt.parts('variables').map((variable) => variable.text('name')));
    for (const name of placeholders(prompt.text('text') ?? ''))
      if (!declared.has(name))
        prompt.refuse('/text', `{{${name}}} is not declared in variables.`, TEMPLATE_INVALID);
    const meta = prompt.part('meta');
    if (meta?.text('source') === 'pack' && !(meta.text('packName') && meta.text('packVersion')))
      meta.refuse('', 'A prompt from a pack needs packName and packVersion.');
  }
}

export function checkArtifactTypes(root: Part): void {
  for (const type of root.parts('artifactTypes')) {
    if (type.has('schemaRef') === type.has('schema'))
      type.refuse('', 'An artifact type needs one schema: schemaRef.');
    for (const key of ['schema', 'title', 'export'])
      if (type.has(key))
        type.warn(`/${key}`, 'An older spelling: use schemaRef, displayName, exportFormats.');
    if (!ReverseDns.test(type.text('artifactTypeId') ?? ''))
      type.warn('/artifactTypeId', 'It is not a reverse-DNS name such as vendor.acme.cad.');
  }
}

export function checkCards(root: Part): void {
  for (const card of root.parts('cards')) {
    refuseDuplicates(card.parts('inputs'), 'id');
    const prompt = card.part('prompt');
    const mapping = prompt?.part('placeholderMapping');
    if (prompt === undefined || mapping === undefined) continue;
    for (const name of placeholders(prompt.text('template') ?? ''))
      if (!mapping.has(name))
        prompt.refuse('/template', `{{${name}}} is not in placeholderMapping.`, TEMPLATE_INVALID);
  }
}

export function checkForms(root: Part): void {
  for (const template of root.parts('templates')) refuseDuplicates(template.parts('fields'), 'id');
}

const API_HOST = /^(?!-)[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})*\.[a-z][a-z0-9-]*$/;

export function checkProvider(root: Part): void {
  const provider = root.part('provider');
  if (provider === undefined) return;
  for (const { at, value: host } of provider.items('apiHosts'))
    if (typeof host !== 'string' || isIP(host) !== 0 || !API_HOST.test(host))
      provider.refuse(at, 'It is not a bare lower-case host name.', 'connection_pack_invalid_api_host');
  if (!provider.has('apiHosts') && provider.part('reach')?.part('openapi'))
    provider.warn('', 'Without apiHosts no credentialed request of this provider leaves the host.');
}
