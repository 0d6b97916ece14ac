// Exits with 0 while the host in this container serves.
const url = `http://127.0.0.1:${process.env.GANTRY_PORT ?? '7070'}/readyz`;
const { ok } = await fetch(url).catch(() => ({ ok: false }));
process.exit(ok ? 0 : 1);
