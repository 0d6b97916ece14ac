/** Trust of a run: content from outside makes it untrusted, and nothing takes that back. */
import type { RunEvent } from '@gantry/protocol';

/** Events that bring content into a run: an answer, a vote, a turn of a conversation, the report of a child. */
const BRINGS_CONTENT = new Set([
  'interrupt.resolved',
  'approval.granted',
  'approval.rejected',
  'approval.overridden',
  'conversation.exchanged',
  'conversation.closed',
  'core.workflowChain.event',
]);

export const bringsUntrusted = ({ type, contentTrust }: RunEvent): boolean =>
  contentTrust === 'untrusted' && BRINGS_CONTENT.has(type);

interface Trusted {
  readonly contentTrust?: 'untrusted';
}

/** What a new run inherits from the run that it comes from. */
export const inheritedTrust = ({ contentTrust }: Trusted): Trusted => (contentTrust ? { contentTrust } : {});
