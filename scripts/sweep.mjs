// Goes over a registry and says of every version and node type what would become of it here.
// npm run sweep -- <registry folder or address> [--offer all|name,name,...]
import { parseArgs } from 'node:util';
import { openRegistry, PACK_KINDS, RUNTIME_REQUIREMENTS } from '@gantry/packs';
import { SandboxUnavailable } from '@gantry/sandbox';
import { ENGINES_VERSION } from '../packages/host/src/packs/offer.ts';
import { summarize, sweepRegistry } from './sweep-registry.ts';
import { openSandboxLoader } from './sweep-sandbox.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { offer: { type: 'string', default: '' } },
});
const [named] = positionals;
if (named === undefined) {
  console.error('Which registry? npm run sweep -- <registry folder or address> [--offer all|name,name,...]');
  process.exit(2);
}

/** `all` stands for a host that offers whatever the pack asks for: what is left is refused for another reason. */
function offer(manifest) {
  const asked = values.offer === 'all' ? Object.entries(manifest.peerDependencies ?? {}) : [];
  const named = values.offer.split(',').filter((name) => name !== '' && name !== 'all');
  return {
    protocolVersion: ENGINES_VERSION,
    capabilities: new Map([
      ...asked.map(([name, wanted]) => [name, [wanted.replace(/^>=\s*/, '')]]),
      ...named.map((name) => [name, []]),
    ]),
    languages: new Set(['javascript', 'python', 'remote']),
    wasmAbiVersions: [1],
    grants: RUNTIME_REQUIREMENTS.filter((requirement) => requirement !== 'subprocess'),
    kinds: new Set(Object.keys(PACK_KINDS)),
    builtInTypeIds: new Set(),
  };
}

function line({ name, version, typeId, verified, install, nodeType }) {
  const proof = verified.passed ? 'verified' : `NOT VERIFIED (${verified.reason})`;
  const outcome = [install.state, install.reason].filter((part) => part !== undefined).join(': ');
  const told = nodeType?.misfit ? `BREAKS ITS OUTPUT SCHEMA (${nodeType.misfit})` : nodeType?.reason;
  const sandboxed = nodeType ? [[nodeType.state, told].filter(Boolean).join(': ')] : [];
  return [`${name}@${version}`, typeId ?? '', proof, outcome, ...sandboxed].join('\t');
}

/** Without an OS sandbox nothing of a pack is run, and the columns for it stay away. */
const loader = await openSandboxLoader().catch((error) => {
  if (!(error instanceof SandboxUnavailable)) throw error;
  console.error(`Nothing is loaded: ${error.message}`);
  return { loadNodeType: undefined, stop: async () => undefined };
});
const rows = [];
try {
  const registry = await openRegistry(named);
  const { loadNodeType } = loader;
  const options = { offer, now: Date.now(), ...(loadNodeType ? { loadNodeType } : {}) };
  for await (const row of sweepRegistry(registry, options)) {
    rows.push(row);
    console.log(line(row));
  }
} finally {
  await loader.stop();
}
const breaking = rows.filter(({ nodeType }) => nodeType?.misfit);
if (breaking.length > 0) console.log('Packs whose outputs break their own schema:');
for (const { name, version, typeId, nodeType } of breaking)
  console.log(`  ${name}@${version}\t${typeId}\t${nodeType.misfit}`);
const { isSound, ...counts } = summarize(rows);
console.log(
  Object.entries(counts)
    .map(([what, count]) => `${what} ${count}`)
    .join(', '),
);
process.exit(isSound ? 0 : 1);
