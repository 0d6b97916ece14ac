/** What surfaces do whose server is not there when they are opened, and comes later. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { OpenwopError } from '@gantry/protocol';
import { ERRORS } from '@gantry/protocol';
import type { BackendSettings } from '../open-port.ts';
import type { OpenedSurfaces } from '../open-surfaces.ts';
import { freshFolder } from './data-dir.ts';
import { openGate } from './gate.ts';
import { openTestSurfaces } from './surfaces.ts';
import { type Call, callGateOf, nodeOf, type TestCallGate } from './test-call-gate.ts';

/** A server behind a closed door. */
export interface AbsentServer {
  readonly address: string;
  readonly url: string;
  appear(): Promise<void>;
  close(): Promise<void>;
}

/** The same address, with nobody there. */
export async function absentServer(url: string): Promise<AbsentServer> {
  const through = new URL(url);
  const gate = await openGate({ host: through.hostname, port: Number(through.port) });
  await gate.shut();
  const address = `127.0.0.1:${gate.port}`;
  through.host = address;
  return { address, url: through.href, appear: gate.reopen, close: gate.close };
}

export interface OpenedWorld {
  readonly opened: OpenedSurfaces;
  /** What the operator was told. */
  readonly told: unknown[];
  readonly world: TestCallGate;
  problemsOf(capability: string): Promise<string[]>;
}

export async function openWorld(
  t: TestContext,
  backends: BackendSettings,
  ...servers: readonly AbsentServer[]
): Promise<OpenedWorld> {
  const folder = freshFolder();
  const told: unknown[] = [];
  let close = async (): Promise<void> => {};
  t.after(async () => {
    await close();
    await Promise.all(servers.map((each) => each.close()));
    folder.remove();
  });
  const opened = await openTestSurfaces(folder.path, { backends, report: (fault) => void told.push(fault) });
  close = opened.close;
  return {
    opened,
    told,
    world: callGateOf(opened.surfaces),
    async problemsOf(capability) {
      const health = await opened.health();
      const ours = health.filter((each) => each.capability === capability);
      assert.ok(ours.length > 0, `${capability} is not listed`);
      return ours.flatMap((each) => (each.state === 'up' ? [] : [each.problem]));
    },
  };
}

export interface AbsentCase {
  readonly skip?: string | false;
  /** Of the server that is there. */
  readonly url: (t: TestContext) => Promise<string>;
  readonly settings: (server: AbsentServer) => BackendSettings;
  /** By capability: a call that its server is needed for. */
  readonly calls: Readonly<Record<string, (call: Call) => Promise<unknown>>>;
}

const codeOf = (capability: string) =>
  capability === 'queueBus' ? 'queue_backend_unavailable' : 'storage_unavailable';

export function absentServerTest(name: string, absent: AbsentCase): void {
  test(`${name} that is not there at the start is used when it is`, {
    skip: absent.skip ?? false,
  }, async (t) => {
    const server = await absentServer(await absent.url(t));
    const settings = absent.settings(server);
    const { told, world, opened, problemsOf } = await openWorld(t, settings, server);
    assert.equal(told.length, 1, 'one line for the server');
    const line = String(told[0]);
    assert.match(line, /(cannot be reached|is not available) \(.*tries this by itself/);
    for (const setting of Object.keys(settings))
      assert.ok(line.includes(`GANTRY_${setting.toUpperCase()}`), line);
    if (settings.datasources === undefined) assert.ok(line.includes(server.address), line);
    await nodeOf(world)('fs.write', { path: 'a', content: '' });
    for (const [capability, call] of Object.entries(absent.calls)) {
      assert.ok(capability in world.callGate.discovery(), 'it is advertised');
      assert.ok(ERRORS[codeOf(capability)].retriable);
      await assert.rejects(call(nodeOf(world, { nodeId: capability })), ({ code, message }: OpenwopError) => {
        assert.equal(code, codeOf(capability));
        assert.doesNotMatch(message, /127\.0\.0\.1|localhost/, 'pack code is not told where a server stands');
        return true;
      });
      assert.match(
        (await problemsOf(capability)).join(),
        /^GANTRY_\w+: .*(cannot be reached|is not available)/,
      );
    }
    assert.equal(await opened.sweep(0), 0, 'what is away is swept another time');
    await server.appear();
    for (const [capability, call] of Object.entries(absent.calls)) {
      await call(nodeOf(world, { nodeId: capability }));
      assert.deepEqual(await problemsOf(capability), []);
    }
    assert.equal(told.length, 1);
  });
}
