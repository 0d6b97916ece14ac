import { isIP } from 'node:net';
import { OpenwopError } from '@gantry/protocol';
import { isFilePath } from '../archive/path.ts';
import { own } from '../json.ts';
import { readChain } from '../workflow-chain/chain.ts';
import { checkChain } from '../workflow-chain/check-chain.ts';
import { ReverseDns } from './fields.ts';
import { at, type Findings, type Member, member, members, refuseDuplicates, text } from './issue.ts';
import { pointer } from './json-source.ts';

export function checkChains(root: Member, findings: Findings): void {
  for (const { path, value } of members(root, 'chains')) {
    const chain = attempt(() => readChain(value));
    // Schema errors are reported by the schema, member by member.
    if (chain instanceof OpenwopError) continue;
    const problem = attempt(() => checkChain(chain));
    if (problem instanceof OpenwopError) findings.refuse(path, problem.message, problem.code);
  }
}

function attempt<Result>(act: () => Result): Result | OpenwopError {
  try {
    return act();
  } catch (error) {
    if (error instanceof OpenwopError) return error;
    throw error;
  }
}

const TEMPLATE_INVALID = 'prompt_template_invalid';
const PLACEHOLDER = /\{\{\s*([a-zA-Z_][a-zA-Z0-9_.]*)\s*\}\}/g;
const placeholders = (template: string): string[] =>
  [...template.matchAll(PLACEHOLDER)].map(([, name]) => name ?? '');

export function checkPrompts(root: Member, findings: Findings): void {
  for (const prompt of members(root, 'prompts')) {
    const declared = new Set(members(prompt, 'variables').map((variable) => text(variable, 'name')));
    for (const name of placeholders(text(prompt, 'text') ?? ''))
      if (!declared.has(name))
        findings.refuse(at(prompt, 'text'), `{{${name}}} is not declared in variables.`, TEMPLATE_INVALID);
    const meta = member(prompt, 'meta');
    if (meta && text(meta, 'source') === 'pack' && !(text(meta, 'packName') && text(meta, 'packVersion')))
      findings.refuse(meta.path, 'A prompt from a pack needs packName and packVersion.');
  }
}

export function checkArtifactTypes(root: Member, findings: Findings): void {
  for (const type of members(root, 'artifactTypes')) {
    const schemas = ['schemaRef', 'schema'].filter((key) => Object.hasOwn(type.value, key));
    if (schemas.length !== 1) findings.refuse(type.path, 'An artifact type needs one schema: schemaRef.');
    for (const key of ['schema', 'title', 'export'])
      if (Object.hasOwn(type.value, key))
        findings.warn(at(type, key), 'An older spelling: use schemaRef, displayName, exportFormats.');
    if (!ReverseDns.test(text(type, 'artifactTypeId') ?? ''))
      findings.warn(at(type, 'artifactTypeId'), 'It is not a reverse-DNS name such as vendor.acme.cad.');
  }
}

export function checkCards(root: Member, findings: Findings): void {
  for (const card of members(root, 'cards')) {
    refuseDuplicates(members(card, 'inputs'), 'id', findings);
    const prompt = member(card, 'prompt');
    const mapping = prompt && member(prompt, 'placeholderMapping');
    if (prompt === undefined || mapping === undefined) continue;
    for (const name of placeholders(text(prompt, 'template') ?? ''))
      if (own(mapping.value, name) === undefined)
        findings.refuse(
          at(prompt, 'template'),
          `{{${name}}} is not in placeholderMapping.`,
          TEMPLATE_INVALID,
        );
  }
}

export function checkForms(root: Member, findings: Findings): void {
  for (const template of members(root, 'templates'))
    refuseDuplicates(members(template, 'fields'), 'id', findings);
}

export function checkPlugins(root: Member, findings: Findings): void {
  for (const plugin of members(root, 'uiPlugins')) {
    const entry = text(plugin, 'entry');
    if (entry !== undefined && !isFilePath(entry))
      findings.refuse(at(plugin, 'entry'), 'It is not a path inside the pack.');
  }
}

const API_HOST = /^(?!-)[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})*\.[a-z][a-z0-9-]*$/;

export function checkProvider(root: Member, findings: Findings): void {
  const provider = member(root, 'provider');
  if (provider === undefined) return;
  const hosts = own(provider.value, 'apiHosts');
  if (Array.isArray(hosts))
    hosts.forEach((host, index) => {
      if (typeof host !== 'string' || isIP(host) !== 0 || !API_HOST.test(host))
        findings.refuse(
          pointer(at(provider, 'apiHosts'), index),
          'It is not a bare lower-case host name.',
          'connection_pack_invalid_api_host',
        );
    });
  const reach = member(provider, 'reach');
  if (hosts === undefined && reach && member(reach, 'openapi'))
    findings.warn(
      provider.path,
      'Without apiHosts no credentialed request of this provider leaves the host.',
    );
}
