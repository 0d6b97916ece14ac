import { capabilityName, ERRORS, type ErrorCode, type JsonObject, OpenwopError } from '@gantry/protocol';
import semver from 'semver';
import type { PackManifest } from '../manifest/kinds.ts';
import { describePeers, type HostOffer, judgePeers, type PeerProblem } from './peer-dependencies.ts';
import { describePermission, unmetRequirements } from './permission.ts';

/** A reason against an install: the pack, the cause, and what the operator can do. */
export interface Refusal {
  readonly code: ErrorCode;
  readonly message: string;
  readonly next: string;
  readonly details: JsonObject;
}

export type InstallJudgement =
  | {
      readonly installable: true;
      /** The sandbox permissions that the pack requires, to be granted and stored with the approval. */
      readonly requires: readonly string[];
      /** Optional capabilities that this host does not offer. */
      readonly degraded: readonly string[];
      /** Types of the pack that the host has itself; those of the host are used. */
      readonly shadowed: readonly string[];
    }
  | { readonly installable: false; readonly refusals: readonly [Refusal, ...Refusal[]] };

/** Checks whether a pack can be used on this host, by its manifest only, before anything of it is loaded. */
export function judgeInstall(
  manifest: PackManifest,
  offer: HostOffer,
  surfaces: readonly string[] = [],
): InstallJudgement {
  const { unmet, degraded } = judgePeers(manifest, offer);
  const reserved = unmet.filter(({ kind }) => kind === 'reserved');
  const missing = unmet.filter((problem) => problem.kind !== 'reserved' && !isSandbox(problem));
  const refusals = [
    refuseKind(manifest, offer),
    refuseEngines(manifest, offer),
    refuseRuntime(manifest, offer),
    refuseSandbox(manifest, unmet),
    refusePeers(manifest, 'pack_peer_dependency_undefined', reserved),
    refusePeers(manifest, 'pack_peer_dependency_missing', missing),
    refuseRequirements(manifest, offer, surfaces),
  ].filter((refusal) => refusal !== undefined);
  const [first, ...others] = refusals;
  if (first) return { installable: false, refusals: [first, ...others] };
  const typeIds = manifest.kind === 'node' ? (manifest.nodes ?? []).map(({ typeId }) => typeId) : [];
  return {
    installable: true,
    requires: requiresOf(manifest),
    degraded,
    shadowed: typeIds.filter((typeId) => offer.builtInTypeIds.has(typeId)),
  };
}

/** The first refusal as an error, with the others in its details. */
export function refusalError([first, ...others]: readonly [Refusal, ...Refusal[]]): OpenwopError {
  const also = others.map(({ code, message }) => ({ code, message }));
  return new OpenwopError(first.code, {
    message: `${first.message} ${first.next}`,
    details: also.length === 0 ? first.details : { ...first.details, also },
  });
}

const nameOf = ({ name, version }: PackManifest): string => `${name}@${version}`;

/** The sandbox permissions that a pack requires. Remote nodes need the network, declared or not. */
export function requiresOf(manifest: PackManifest): readonly string[] {
  if (manifest.kind !== 'node') return [];
  const { requires = [], language } = manifest.runtime;
  const isElsewhere = language === 'remote' && (manifest.nodes ?? []).length > 0;
  return isElsewhere ? [...new Set([...requires, 'net.outbound'])] : requires;
}

function refuse(manifest: PackManifest, code: ErrorCode, why: string, details: JsonObject = {}): Refusal {
  const named = { manifest: nameOf(manifest), ...details };
  return { code, message: `${nameOf(manifest)} ${why}`, next: ERRORS[code].next, details: named };
}

/** The capability of a host that accepts packs of a kind. */
const KIND_CAPABILITIES: Partial<Record<PackManifest['kind'], string>> = { 'frontend-plugin': 'uiPlugins' };

function refuseKind(manifest: PackManifest, { kinds }: HostOffer): Refusal | undefined {
  if (kinds.has(manifest.kind)) return undefined;
  const capability = KIND_CAPABILITIES[manifest.kind] ?? `packs.${manifest.kind}`;
  const why = `is a pack of kind ${manifest.kind}, and this host does not offer ${capability}.`;
  return refuse(manifest, 'capability_not_provided', why, { kind: manifest.kind, capability });
}

function refuseEngines(manifest: PackManifest, { protocolVersion }: HostOffer): Refusal | undefined {
  const range = manifest.engines.openwop;
  const problem = enginesProblem(range, protocolVersion);
  if (!problem) return undefined;
  const code = problem.kind === 'broken' ? 'invalid_engines_range' : 'pack_engines_unmet';
  return refuse(manifest, code, problem.why, { range, protocolVersion });
}

/** Why a range of protocol versions excludes this host, as the rest of a sentence. */
export function enginesProblem(
  range: string,
  protocolVersion: string,
): { readonly kind: 'broken' | 'unmet'; readonly why: string } | undefined {
  if (semver.validRange(range) === null) return { kind: 'broken', why: `has the broken range ${range}.` };
  if (semver.satisfies(protocolVersion, range)) return undefined;
  return { kind: 'unmet', why: `is made for OpenWOP ${range}; this host implements ${protocolVersion}.` };
}

function refuseRuntime(manifest: PackManifest, offer: HostOffer): Refusal | undefined {
  if (manifest.kind !== 'node') return undefined;
  const { language, wasm } = manifest.runtime;
  if (language === 'wasm') return refuseWasm(manifest, wasm?.abiVersion ?? 0, offer);
  // A pack with only agents runs no code, so its declared language requires nothing of the host.
  const hasCode = (manifest.nodes ?? []).length > 0;
  if (!hasCode || offer.languages.has(language)) return undefined;
  const why = `is written for the runtime ${language}, which this host does not have.`;
  return refuse(manifest, 'unsupported_runtime', why, { language, supported: [...offer.languages] });
}

function refuseWasm(manifest: PackManifest, abiVersion: number, offer: HostOffer): Refusal | undefined {
  const supported = offer.wasmAbiVersions;
  if (supported.length === 0)
    return refuse(manifest, 'unsupported_pack_runtime', 'is WebAssembly, which this host does not run.');
  if (supported.includes(abiVersion)) return undefined;
  const why = `is built for WebAssembly ABI ${abiVersion}; this host has ${supported.join(', ')}.`;
  return refuse(manifest, 'unsupported_abi_version', why, { abiVersion, supported: [...supported] });
}

const isSandbox = ({ kind, name }: PeerProblem): boolean =>
  kind === 'not-offered' && capabilityName(name) === 'sandbox';

/** Depends on the machine and the settings of the host, not on its implementation. */
function refuseSandbox(manifest: PackManifest, unmet: readonly PeerProblem[]): Refusal | undefined {
  if (!unmet.some(isSandbox)) return undefined;
  const why = 'needs host.sandbox, and the operating system does not isolate packs on this host.';
  return refuse(manifest, 'capability_not_provided', why, { capability: 'host.sandbox' });
}

export function refusePeers(
  manifest: PackManifest,
  code: 'pack_peer_dependency_missing' | 'pack_peer_dependency_undefined',
  problems: readonly PeerProblem[],
): Refusal | undefined {
  if (problems.length === 0) return undefined;
  const { why, next } = describePeers(problems, code);
  return { ...refuse(manifest, code, why, { missing: problems.map(({ name }) => name) }), next };
}

function refuseRequirements(
  manifest: PackManifest,
  { grants }: HostOffer,
  surfaces: readonly string[],
): Refusal | undefined {
  const unmet = unmetRequirements([...requiresOf(manifest), ...surfaces], grants);
  if (unmet.length === 0) return undefined;
  const why = `needs platform access that is not granted here: ${unmet.join(', ')}.`;
  const advice = unmet.map(describePermission).join(' ');
  return refuse(manifest, 'pack_runtime_requirement_unmet', why, { unmet, advice });
}
