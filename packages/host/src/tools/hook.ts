/** What stands between a call of a tool and its act. */
import type { OpenwopError } from '@gantry/protocol';
import type { CommitGroup } from '@gantry/store';
import type { CalledTool, CallRecord } from '@gantry/surfaces';

export interface GatedCall {
  readonly tenant: string;
  readonly principal: string | undefined;
  readonly tool: CalledTool;
}

/** A budget is one more of them: it reserves with the claim and settles with the record. */
export interface ToolHook {
  /** Throws an `OpenwopError` to refuse the call. */
  admit?(call: GatedCall): Promise<void> | void;
  /** In the commit of the claim: no call is made unless all of it is written. */
  reserve?(call: GatedCall): CommitGroup;
  /** Why the call is refused when one of these writes lost. */
  full?(call: GatedCall): Promise<OpenwopError> | OpenwopError;
  /** In the commit of the record of a call whose reservation this process has made; it must not be able to lose. */
  settle?(call: GatedCall, record: CallRecord): CommitGroup;
}
