/** What stands between a call of a tool and its act. */
import type { EmittedEvent, OpenwopError } from '@gantry/protocol';
import type { CommitGroup } from '@gantry/store';
import type { CalledTool, CallingRun, CallRecord } from '@gantry/surfaces';

export interface GatedCall {
  readonly tenant: string;
  readonly principal: string | undefined;
  readonly tool: CalledTool;
  /** None outside of a run. */
  readonly run?: CallingRun | undefined;
}

/** A budget is one more of them: it reserves with the claim and settles with the record. */
export interface ToolHook {
  /** Throws an `OpenwopError` to refuse the call. */
  admit?(call: GatedCall): Promise<void> | void;
  /** In the commit of the claim: no call is made unless all of it is written. */
  reserve?(call: GatedCall): CommitGroup;
  /** Told with the record of a call that was made. */
  told?(call: GatedCall): Promise<readonly EmittedEvent[]>;
  /** Why the call is refused when one of these writes lost. Throws where the node has to stop without a record. */
  full?(call: GatedCall): Promise<OpenwopError> | OpenwopError;
  /** In the commit of the record of a call whose reservation this process has made; it must not be able to lose. */
  settle?(call: GatedCall, record: CallRecord): CommitGroup;
}
