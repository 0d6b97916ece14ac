export { type CallGate, createCallGate } from './calls/call-gate.ts';
export type {
  CalledTool,
  CallJournal,
  CallRecord,
  JournaledCall,
  ReadsKey,
  SeenRead,
} from './calls/call-journal.ts';
export { assertSameCall } from './calls/call-journal.ts';
export { TOOL_NAMES } from './calls/catalogue.ts';
export { changed } from './calls/change-call.ts';
export { createCursors } from './calls/cursor.ts';
export type { Data, DataObject, Redact } from './calls/data.ts';
export type { CallReport, NodeCalls } from './calls/node-calls.ts';
export type { AnswerKeys } from './calls/sealed-answer.ts';
export { decodeBase64 } from './calls/spelling.ts';
export type {
  BudgetStop,
  CallerWork,
  CallingRun,
  ChangeCall,
  NodeFacts,
  NodeWaits,
  NumberedCall,
  SubstituteModel,
  WriteCall,
} from './calls/surface-call.ts';
export { MODEL_METHODS, type ModelsPort } from './capabilities/ai/surface.ts';
export { INERT } from './capabilities/blob/hosted-blobs.ts';
export { LINK_ROOT } from './capabilities/blob/link.ts';
export type { EnvelopesPort } from './capabilities/envelopes/surface.ts';
export type { HttpCredentials } from './capabilities/http/credential.ts';
export { implementHttp } from './capabilities/http/surface.ts';
export type { PromptsPort } from './capabilities/prompts/surface.ts';
export { deliveryTokens } from './capabilities/queue/delivery-token.ts';
export { groupProblem as queueGroupProblem } from './capabilities/queue/limits.ts';
export type { SecretReader, SecretsPort } from './capabilities/secrets/surface.ts';
export { type BackendSettings, IN_DATA_FOLDER, notServed } from './open-port.ts';
export { type OpenedSurfaces, openSurfaces } from './open-surfaces.ts';
export type { BlobPort } from './ports/blobs.ts';
export type { Dispatched, EgressEnvelope, MessagesPort } from './ports/messages.ts';
export type { ConsumerGroup, QueueDelivery, QueuePort, QueueSubscription } from './ports/queue.ts';
export { type QuotaEntry, readQuota } from './quotas.ts';
