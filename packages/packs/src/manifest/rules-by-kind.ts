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

const CATEGORIES = new Set(['chat', 'control', 'data', 'canvas', 'coordination', 'integration']);

export function checkNodes(root: Part): void {
  const nodes = root.parts('nodes');
  const agents = root.parts('agents');
  if (nodes.length + agents.length === 0)
    root.refuse('', 'A node pack needs at least one entry in nodes or agents.');
  for (const node of nodes) checkNode(node);
  for (const agent of agents) checkAgent(agent, root.text('name'));
  const runtime = root.part('runtime');
  if (runtime) checkRuntime(runtime, nodes.length > 0);
  const connector = root.part('connector');
  if (connector) checkConnector(connector, new Set(nodes.map((node) => node.text('typeId'))));
}

function checkNode(node: Part): void {
  const category = node.text('category');
  if (category !== undefined && !CATEGORIES.has(category))
    node.warn('/category', `${category} is not one of ${[...CATEGORIES].join(', ')}.`);
  for (const secret of node.parts('requiresSecrets'))
    if (secret.text('kind') === 'ai-provider' && secret.text('provider') === undefined)
      secret.refuse('', 'A secret of kind ai-provider needs a provider.');
}

function checkAgent(agent: Part, packName: string | undefined): void {
  const id = agent.text('agentId');
  if (id !== undefined && packName !== undefined && !id.startsWith(`${packName}.`))
    agent.refuse('/agentId', `It must begin with the pack name, ${packName}.`);
  if (agent.has('systemPrompt') === agent.has('systemPromptRef'))
    agent.refuse('', 'An agent needs either systemPrompt or systemPromptRef, not both.');
  for (const { at, value: tool } of agent.items('toolAllowlist'))
    if (typeof tool === 'string' && !tool.includes(':'))
      agent.refuse(at, `${tool} lacks the part before a colon.`);
  if (agent.text('role') === 'skill') checkSkill(agent);
}

/** A skill is called like a function: it declares its task and result, and has no memory. */
function checkSkill(agent: Part): void {
  if (agent.part('handoff') === undefined) agent.refuse('', 'An agent with the role skill needs a handoff.');
  const memory = agent.part('memoryShape');
  for (const key of ['conversation', 'longTerm'])
    if (memory?.has(key) && memory.value[key] === true)
      memory.refuse(`/${key}`, 'A skill cannot have this memory.');
}

function checkRuntime(runtime: Part, hasNodes: boolean): void {
  const language = runtime.text('language');
  const entry = runtime.text('entry');
  if ((language === 'wasm') !== runtime.has('wasm'))
    runtime.refuse('', 'runtime.wasm with its abiVersion belongs to the language wasm, and only to it.');
  if (entry === undefined || language !== 'remote' || !hasNodes) return;
  if (!URL.canParse(entry))
    runtime.refuse('/entry', 'A remote pack with nodes needs the address of its MCP endpoint.');
  else if (!isReachable(new URL(entry)))
    runtime.refuse('/entry', 'A remote endpoint must be reached over https, or on this machine.');
}

/** Plain http is for development: a host only calls its own machine if that is configured. */
const isReachable = ({ protocol, hostname }: URL): boolean =>
  protocol === 'https:' || (protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(hostname));

function checkConnector(connector: Part, typeIds: ReadonlySet<string | undefined>): void {
  const actions = connector
    .parts('actions')
    .map((action) => ({ part: action, at: '/typeId', value: action.text('typeId') }));
  const triggers = connector.items('triggers').map((trigger) => ({ part: connector, ...trigger }));
  for (const { part, at, value } of [...actions, ...triggers])
    if (typeof value === 'string' && !typeIds.has(value))
      part.refuse(at, `${value} is not a node of this pack.`, 'connector_action_unresolved');
  const auth = connector.part('auth');
  if (auth) checkConnectorAuth(auth);
}

function checkConnectorAuth(auth: Part): void {
  const isOauth = auth.text('type') === 'oauth2';
  const needed = isOauth ? 'provider' : 'key';
  if (auth.text(needed) === undefined) auth.refuse('', `It needs ${needed}.`);
  for (const key of isOauth ? ['key', 'scope'] : ['provider', 'scopes'])
    if (auth.has(key)) auth.refuse(`/${key}`, 'It does not belong to this type of authentication.');
}
