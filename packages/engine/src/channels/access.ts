import type { ChannelDeclaration, JsonObject } from '@gantry/protocol';
import type { PlanChannel, PlanNode } from '../plan.ts';
import type { Refusal } from '../step.ts';

export type AccessSide = 'readers' | 'writers';

/** Why the node may not use the channel. Without a node the request comes from outside the run. */
export function accessRefusal(
  { name, declaration }: PlanChannel,
  side: AccessSide,
  node: PlanNode | undefined,
  requestedBy: JsonObject = node ? { nodeId: node.id, typeId: node.typeId } : {},
): Refusal | undefined {
  const allowed = allowedOn(declaration.access, side);
  if (!allowed || allowed.some((entry) => matches(entry, node))) return;
  const who = node ? `The node ${node.id}` : 'Another run';
  return {
    code: 'channel_access_denied',
    message: `${who} may not ${side === 'readers' ? 'read' : 'write'} the channel ${name}.`,
    details: { channel: name, requestedBy, allowed: side },
  };
}

/** Undefined: everyone. */
function allowedOn(access: ChannelDeclaration['access'], side: AccessSide): readonly string[] | undefined {
  if (access === 'private') return [];
  return access === undefined || access === 'public' ? undefined : access[side];
}

/** A node id, or a type id up to a `*`. Someone outside the run is matched by `*` alone. */
function matches(entry: string, node: PlanNode | undefined): boolean {
  if (entry === '*') return true;
  if (!node) return false;
  return entry === node.id || (entry.endsWith('*') && node.typeId.startsWith(entry.slice(0, -1)));
}
