/** Code that the sandbox seam runs for the suite: forbidden operations, and two well-behaved nodes. */
const address = 'http://example.com/';

export const nodes = {
  'misbehave.fs-escape-read': async () => (await import('node:fs')).readFileSync('/etc/passwd', 'utf8'),
  'misbehave.fs-escape-write': async () => (await import('node:fs')).writeFileSync('/tmp/escaped', 'out'),
  'misbehave.env-leak': async () => ({ home: process.env.HOME ?? process.env.GANTRY_ADMIN_KEY }),
  'misbehave.network-escape': async () => (await import('node:net')).connect(80, '127.0.0.1'),
  'misbehave.process-escape': async () => (await import('node:child_process')).execSync('id').toString(),
  'misbehave.timeout': async () => {
    for (;;);
  },
  'misbehave.memory-bomb': async () => {
    const held = [];
    for (;;) held.push(new Uint8Array(16 * 1024 * 1024).fill(held.length));
  },
  'misbehave.cross-pack-mutate': async () => {
    globalThis.shared = (globalThis.shared ?? 0) + 1;
    return { shared: globalThis.shared };
  },
  'misbehave.capability-gate-violation': async (ctx) => ctx.notInAllowedList(),
  'well-behaved.echo': async (ctx) => ({ echoed: ctx.inputs.input }),
  // Only whether the call was allowed matters, not whether the server answers.
  'well-behaved.host-fetch': async () => {
    try {
      return { status: (await fetch(address)).status };
    } catch (error) {
      if (String(error.code).startsWith('sandbox_')) throw error;
      return { status: 0, reason: error.message };
    }
  },
};
