export type {
  CallIo,
  Data,
  ErrorOrigin,
  Inspection,
  Invocation,
  InvocationLimits,
  InvocationOutcome,
  NodeContext,
  NodeError,
  NodeResult,
  PackCode,
  Receipt,
  SurfaceKind,
  SurfaceTable,
} from './invocation.ts';
export { SandboxUnavailable } from './isolation/choose.ts';
export { DEFAULT_UIDS, type UidRange } from './isolation/uids.ts';
export { RemotePacks } from './remote/remote-packs.ts';
export { cutJson, cutText, ErrorForPack } from './result.ts';
export {
  createSandbox,
  type Sandbox,
  type SandboxOptions,
  type SandboxReport,
  type SandboxStats,
} from './sandbox.ts';
