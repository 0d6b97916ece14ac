/** Which of the served workflows are public conformance fixtures that this host honours. */

const FIXTURE_PREFIXES = ['conformance-', 'openwop-smoke-'];

/** Fixtures that load, but depend on capabilities that this version does not offer. */
const NOT_HONOURED_PREFIXES = [
  'conformance-agent-channel-',
  'conformance-agent-memory-',
  'conformance-agent-pack-',
  'conformance-version-fold',
];

const startsWithOneOf = (id: string, prefixes: readonly string[]): boolean =>
  prefixes.some((prefix) => id.startsWith(prefix));

/** Their secret, or the provider that replaces a model, exists only if the test seams are served. */
const WITH_SEAMS = [
  'openwop-smoke-byok-roundtrip',
  'conformance-stream-text',
  'conformance-envelope-',
  'conformance-prompt-',
  'conformance-model-capability-',
  'conformance-phase4-',
];

/** Suites run every listed fixture, so only working ones are listed. */
export const honouredFixtures = (
  workflowIds: readonly string[],
  { testSeams }: { readonly testSeams: boolean },
): string[] => {
  const withheld = testSeams ? NOT_HONOURED_PREFIXES : [...NOT_HONOURED_PREFIXES, ...WITH_SEAMS];
  return workflowIds.filter((id) => startsWithOneOf(id, FIXTURE_PREFIXES) && !startsWithOneOf(id, withheld));
};
