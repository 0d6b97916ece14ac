/** The members of `ctx` for one node at work: its calls go through the gate, and are journaled in the log of the runtime. */
import type { CallGate } from '@gantry/surfaces';
import type { Members } from '../packs/node-controls/members.ts';
import type { SurfaceFacts } from '../packs/node-controls/surfaces.ts';
import type { ToolCalls } from '../tools/tool-calls.ts';
import { callJournal } from './call-journal.ts';

export const nodeMembers =
  (gate: CallGate, tools: ToolCalls) =>
  ({ key, log, recorded, warn, signal: cancelled, approve, ...facts }: SurfaceFacts): Members => {
    const { workspace = '', principal = '', work, nodeId, ordinalBase: ordinal } = facts;
    const caller = { principal: principal || undefined, run: work?.run, tell: work?.tell, approve };
    const calls = gate.open(
      { ...facts, ...key, workspace, principal, cancelled },
      callJournal(log, { tools, caller, ...(recorded && { recorded }), ...(warn && { warn }) }),
    );
    return {
      table: gate.table,
      primitives: gate.primitives,
      load: () => tools.load({ log, ...caller }, { ...key, nodeId, ordinal }, calls.tools()),
      call: (path, args, io) => {
        const call = () => calls.call(path, args, io);
        return io.untimed && gate.slow.has(path) ? io.untimed(call) : call();
      },
    };
  };
