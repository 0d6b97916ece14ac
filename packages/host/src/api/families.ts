/** Capability families of orchestration: people, children, replay and time. */
import { DISPATCH_MAX_FAN_OUT, FAILURE_MODES, JOIN_MODES } from '@gantry/engine';
import { HEARTBEAT_CAPABILITY, SCHEDULING_CAPABILITY, TRIGGER_BRIDGE_CAPABILITY } from '@gantry/protocol';
import type { HostInfo } from './context.ts';

const SECONDS_PER_DAY = 86_400;

export const orchestrationFamilies = ({ name, retentionSeconds }: HostInfo) => ({
  conversationPrimitive: true,
  interrupt: { approverRouting: { supported: true, refKinds: ['role'], audience: false } },
  authorization: { supported: true, failClosed: true, roles: [] },
  agents: {
    supported: true,
    orchestrator: true,
    dispatch: true,
    dispatchMapping: true,
    subRunAttestation: true,
    reasoning: { verbosity: 'summary', streaming: true },
  },
  multiAgent: {
    executionModel: {
      supported: true,
      version: 3,
      confidenceEscalationFloor: 0.5,
      confidenceEscalationInterruptKind: 'approval',
      crossHostCausation: { supported: true, hostId: name, ancestryEndpointSupported: true },
    },
  },
  orchestrator: { supported: true },
  dispatch: {
    supported: true,
    models: ['child-run'],
    fanOutSupported: true,
    fanOutPolicies: ['sequential', 'reject', 'parallel'],
    joinModes: [...JOIN_MODES],
    onChildFailureModes: [...FAILURE_MODES],
    maxFanOut: DISPATCH_MAX_FAN_OUT,
  },
  subWorkflow: { inputMapping: true },
  replay: { supported: true, modes: ['replay', 'branch'], sideEffectSuppression: 'recorded-outcome' },
  webhooks: { supported: true, signatureAlgorithms: ['v1'], durable: true },
  scheduling: SCHEDULING_CAPABILITY,
  heartbeat: HEARTBEAT_CAPABILITY,
  deadLetter: { supported: true, retentionDays: Math.floor(retentionSeconds / SECONDS_PER_DAY) },
  triggerBridge: TRIGGER_BRIDGE_CAPABILITY,
});
