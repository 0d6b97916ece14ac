/** The members of `ctx` for one node at work: its calls go through the gate, and are journaled in the log of the runtime. */
import type { CallGate } from '@gantry/surfaces';
import type { Members } from '../packs/node-controls/members.ts';
import type { SurfaceFacts } from '../packs/node-controls/surfaces.ts';
import type { ToolCalls } from '../tools/tool-calls.ts';
import { callJournal } from './call-journal.ts';

export const nodeMembers =
  (gate: CallGate, tools: ToolCalls) =>
  ({ key, log, recorded, warn, signal: _, ...facts }: SurfaceFacts): Members => {
    const { workspace = '', principal = '', work } = facts;
    const calls = gate.open(
      { ...facts, ...key, workspace, principal },
      callJournal(log, {
        tools,
        caller: { principal: principal || undefined, tell: work?.tell },
        ...(recorded && { recorded }),
        ...(warn && { warn }),
      }),
    );
    const call: Members['call'] = (path, args, io) => calls.call(path, args, io);
    return { table: gate.table, primitives: gate.primitives, call };
  };
