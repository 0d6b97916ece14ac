import { type ChannelDeclaration, given, type Json, type JsonObject } from '@gantry/protocol';
import type { Compilation } from '../compilation.ts';
import { asJson, isReservedName } from '../json.ts';
import type { PlanChannel } from '../plan.ts';
import type { SchemaCheck } from '../schema.ts';
import { emptyOf, isList, isReducer, misfitOf } from './reducer.ts';
import { checkTriggers } from './triggers.ts';
import { ENTRIES_MAX } from './write.ts';

const CHANNELS_MAX = 500;
const NAME_LENGTH_MAX = 256;
const TTL_MS_MAX = 31_536_000_000;

/** Fills `compilation.channels`: those that the workflow declares, then those that only the config of a node names. */
export function compileChannels(compilation: Compilation): void {
  const { definition, channels } = compilation;
  checkVariableNames(compilation);
  for (const [name, declaration] of Object.entries(definition.channels ?? {})) {
    checkDeclaration(compilation, name, declaration);
    channels.set(name, declaredChannel(compilation, name, declaration));
  }
  definition.nodes.forEach(({ typeId, config }, position) => {
    if (typeId === 'core.channelWrite')
      addWritten(compilation, `/nodes/${position}/config`, asJson(config) as JsonObject);
  });
  checkTriggers(compilation);
  if (channels.size > CHANNELS_MAX)
    compilation.issue('/channels', `A workflow can have at most ${CHANNELS_MAX} channels`);
}

/**
 * Variables that the protocol defines as legacy channels. A host that accepts them must record their writes as
 * channel writes; here the author must declare the channel.
 */
const LEGACY =
  /^(_(approvalVotes|askExchanges|clarificationAnswers|feedbackHistory|loopbackCount|loopbackIteration|previousArtifact):|wfArtifactData_|_activeClarification$)/;

function checkVariableNames(compilation: Compilation): void {
  compilation.definition.variables.forEach(({ name }, position) => {
    if (LEGACY.test(name))
      compilation.issue(
        `/variables/${position}/name`,
        `${name} is an old name for a channel; declare a channel instead`,
      );
  });
}

function checkName(compilation: Compilation, path: string, name: string): void {
  if (name === '' || name.length > NAME_LENGTH_MAX)
    compilation.issue(path, `The name of a channel must have 1 to ${NAME_LENGTH_MAX} characters`);
  if (isReservedName(name)) compilation.issue(path, `${name} is a reserved name`);
  if (compilation.variables.has(name))
    compilation.issue(path, `${name} is a variable; a channel needs a name of its own`);
}

function checkDeclaration(compilation: Compilation, name: string, declaration: ChannelDeclaration): void {
  const path = `/channels/${name}`;
  const { reducer, maxSize, default: initial } = declaration;
  checkName(compilation, path, name);
  if (isList(reducer) && maxSize !== undefined && maxSize > ENTRIES_MAX)
    compilation.issue(`${path}/maxSize`, `A channel keeps at most ${ENTRIES_MAX} entries`);
  if (initial === undefined) return;
  const value = asJson(initial);
  if (isList(reducer)) {
    if (!Array.isArray(value))
      compilation.issue(`${path}/default`, 'The default of a list channel must be a list');
    return;
  }
  const misfit = misfitOf(reducer, undefined, value);
  if (misfit) compilation.issue(`${path}/default`, `A ${reducer} channel ${misfit}`);
}

function declaredChannel(
  compilation: Compilation,
  name: string,
  declaration: ChannelDeclaration,
): PlanChannel {
  const { reducer, schema, default: wished } = declaration;
  const initial = wished === undefined ? emptyOf(reducer) : asJson(wished);
  const check =
    schema && writeCheck(reducer, schema, compilation.schema(`/channels/${name}/schema`, asJson(schema)));
  return given({ name, declaration, origin: 'declared' as const, initial, check });
}

/**
 * Schemas apply to writes. Votes, feedback and messages are objects, so a schema of type `array` there
 * describes the whole list: a write is then checked as a list of one.
 */
function writeCheck(
  reducer: string,
  schema: { readonly [key: string]: unknown },
  check: SchemaCheck | undefined,
): SchemaCheck | undefined {
  const meansList = isList(reducer) && reducer !== 'append' && schema.type === 'array';
  return check && meansList ? (value) => check([value]) : check;
}

/** A channel that the workflow does not declare is defined by the nodes that write to it, which must agree. */
function addWritten(compilation: Compilation, path: string, config: JsonObject): void {
  const { channelName: name, reducer: wished, ttlMs: ttl } = config;
  if (typeof name !== 'string') return;
  const known = compilation.channels.get(name);
  if (known) {
    checkAgreement(compilation, path, known, wished, ttl);
    return;
  }
  const reducer = typeof wished === 'string' && isReducer(wished) ? wished : 'append';
  checkName(compilation, `${path}/channelName`, name);
  const initial = emptyOf(reducer);
  compilation.channels.set(name, {
    name,
    declaration: { reducer, ...(isTtl(ttl) && ttl > 0 && { ttlMs: ttl }) },
    origin: 'node',
    ...(initial !== undefined && { initial }),
  });
}

/** 0 means no TTL, as if it were absent. */
export const isTtl = (value: Json | undefined): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= TTL_MS_MAX;

function checkAgreement(
  compilation: Compilation,
  path: string,
  { name, declaration, origin }: PlanChannel,
  reducer: Json | undefined,
  ttlMs: Json | undefined,
): void {
  const where = origin === 'declared' ? 'the workflow declares' : 'another node says';
  if (reducer !== undefined && reducer !== declaration.reducer)
    compilation.issue(`${path}/reducer`, `The channel ${name} is ${declaration.reducer}, ${where}`);
  if (reducer === undefined && origin === 'node' && declaration.reducer !== 'append')
    compilation.issue(path, `The channel ${name} is ${declaration.reducer}, ${where}; say so here too`);
  const says = ttlMs === undefined && origin === 'declared' ? declaration.ttlMs : ttlMs || undefined;
  if (says !== declaration.ttlMs)
    compilation.issue(`${path}/ttlMs`, `The channel ${name} has another ttlMs, ${where}`);
}
