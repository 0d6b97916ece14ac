import { isFilePath } from '../archive/path.ts';
import { own } from '../json.ts';
import { at, type Findings, type Member, member, members, text } from './issue.ts';
import { pointer } from './json-source.ts';

const CATEGORIES = new Set(['chat', 'control', 'data', 'canvas', 'coordination', 'integration']);

export function checkNodes(root: Member, findings: Findings): void {
  const nodes = members(root, 'nodes');
  const agents = members(root, 'agents');
  if (nodes.length + agents.length === 0)
    findings.refuse('', 'A node pack needs at least one entry in nodes or agents.');
  for (const node of nodes) checkNode(node, findings);
  for (const agent of agents) checkAgent(agent, text(root, 'name'), findings);
  checkRuntime(root, nodes.length > 0, findings);
  checkConnector(root, nodes, findings);
}

function checkNode(node: Member, findings: Findings): void {
  const category = text(node, 'category');
  if (category !== undefined && !CATEGORIES.has(category))
    findings.warn(at(node, 'category'), `${category} is not one of ${[...CATEGORIES].join(', ')}.`);
  for (const secret of members(node, 'requiresSecrets'))
    if (text(secret, 'kind') === 'ai-provider' && text(secret, 'provider') === undefined)
      findings.refuse(secret.path, 'A secret of kind ai-provider needs a provider.');
}

function checkAgent(agent: Member, packName: string | undefined, findings: Findings): void {
  const id = text(agent, 'agentId');
  if (id !== undefined && packName !== undefined && !id.startsWith(`${packName}.`))
    findings.refuse(at(agent, 'agentId'), `It must begin with the pack name, ${packName}.`);
  const prompts = ['systemPrompt', 'systemPromptRef'].filter((key) => Object.hasOwn(agent.value, key));
  if (prompts.length !== 1)
    findings.refuse(agent.path, 'An agent needs either systemPrompt or systemPromptRef, not both.');
  for (const tool of stringsOf(agent, 'toolAllowlist'))
    if (!tool.value.includes(':')) findings.refuse(tool.path, `${tool.value} lacks the part before a colon.`);
  if (text(agent, 'role') === 'skill') checkSkill(agent, findings);
}

/** A skill is called like a function: it declares its task and result, and keeps no memory. */
function checkSkill(agent: Member, findings: Findings): void {
  const memory = member(agent, 'memoryShape')?.value ?? {};
  if (member(agent, 'handoff') === undefined)
    findings.refuse(agent.path, 'An agent with the role skill needs a handoff.');
  for (const key of ['conversation', 'longTerm'])
    if (own(memory, key) === true)
      findings.refuse(pointer(at(agent, 'memoryShape'), key), 'A skill cannot have this memory.');
}

function checkRuntime(root: Member, hasNodes: boolean, findings: Findings): void {
  const runtime = member(root, 'runtime');
  if (runtime === undefined) return;
  const language = text(runtime, 'language');
  const entry = text(runtime, 'entry');
  if ((language === 'wasm') !== Object.hasOwn(runtime.value, 'wasm'))
    findings.refuse(
      runtime.path,
      'runtime.wasm with its abiVersion belongs to the language wasm, and only to it.',
    );
  if (entry === undefined) return;
  const isRemoteNode = language === 'remote' && hasNodes;
  if (isRemoteNode && !URL.canParse(entry))
    findings.refuse('/runtime/entry', 'A remote pack with nodes needs the address of its MCP endpoint.');
  if (isRemoteNode && URL.canParse(entry) && !isReachable(new URL(entry)))
    findings.refuse('/runtime/entry', 'A remote endpoint must be reached over https, or on this machine.');
  if (language !== 'remote' && !isFilePath(entry))
    findings.refuse('/runtime/entry', 'It is not a path inside the pack.');
}

function checkConnector(root: Member, nodes: readonly Member[], findings: Findings): void {
  const connector = member(root, 'connector');
  if (connector === undefined) return;
  const typeIds = new Set(nodes.map((node) => text(node, 'typeId')));
  const named = [
    ...members(connector, 'actions').map((action) => ({
      path: at(action, 'typeId'),
      value: text(action, 'typeId'),
    })),
    ...stringsOf(connector, 'triggers'),
  ];
  for (const { path, value } of named)
    if (value !== undefined && !typeIds.has(value))
      findings.refuse(path, `${value} is not a node of this pack.`, 'connector_action_unresolved');
  checkConnectorAuth(member(connector, 'auth'), findings);
}

function checkConnectorAuth(auth: Member | undefined, findings: Findings): void {
  if (auth === undefined) return;
  const needed = text(auth, 'type') === 'oauth2' ? 'provider' : 'key';
  const foreign = text(auth, 'type') === 'oauth2' ? ['key', 'scope'] : ['provider', 'scopes'];
  if (text(auth, needed) === undefined) findings.refuse(auth.path, `It needs ${needed}.`);
  for (const key of foreign)
    if (Object.hasOwn(auth.value, key))
      findings.refuse(at(auth, key), 'It does not belong to this type of authentication.');
}

function stringsOf(parent: Member, key: string): { path: string; value: string }[] {
  const list = own(parent.value, key);
  if (!Array.isArray(list)) return [];
  return list.flatMap((value, index) =>
    typeof value === 'string' ? [{ path: pointer(at(parent, key), index), value }] : [],
  );
}

/** Plain http is for development: a host reaches its own machine only if that is configured. */
const isReachable = ({ protocol, hostname }: URL): boolean =>
  protocol === 'https:' || (protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(hostname));
