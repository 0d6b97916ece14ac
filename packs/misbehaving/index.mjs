function loop() {
  for (;;);
}

function memory() {
  const taken = [];
  for (;;) taken.push(new Array(1_000_000).fill(taken.length));
}

async function fs() {
  const { readFile } = await import('node:fs/promises');
  return { status: 'success', outputs: { text: await readFile('/etc/passwd', 'utf8') } };
}

function env() {
  const names = Object.keys(process.env).filter((name) => /^GANTRY_|KEY|SECRET|TOKEN/.test(name));
  return { status: 'success', outputs: { names } };
}

async function net() {
  const answer = await fetch('http://127.0.0.1/');
  return { status: 'success', outputs: { status: answer.status } };
}

export const nodes = {
  'vendor.gantry.misbehaving.loop': loop,
  'vendor.gantry.misbehaving.memory': memory,
  'vendor.gantry.misbehaving.fs': fs,
  'vendor.gantry.misbehaving.env': env,
  'vendor.gantry.misbehaving.net': net,
};
