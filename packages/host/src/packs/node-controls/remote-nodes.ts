/** What the executor asks of packs that run elsewhere. */
import type { Data, InvocationOutcome, NodeContext } from '@gantry/sandbox';

export interface RemoteNodes {
  /** Rejects only when its signal is aborted. */
  invoke(invocation: {
    readonly pack: { readonly name: string; readonly version: string; readonly entry: string };
    readonly tenant: string;
    readonly typeId: string;
    readonly ctx: Pick<NodeContext, 'runId' | 'nodeId' | 'attempt' | 'inputs' | 'config'>;
    readonly limits: { readonly wallClockMs: number; readonly outputBytes: number };
    readonly signal: AbortSignal;
    emit(event: Data): Promise<void> | void;
  }): Promise<InvocationOutcome>;
}
