/** Manifests written by hand, one of each kind, and ways to spoil them. */
import assert from 'node:assert/strict';
import type { JsonObject } from '@gantry/protocol';
import type { ManifestIssue, PackKind, PackManifest } from '../index.ts';
import { readManifest } from '../index.ts';

const identity = { name: 'vendor.acme.tools', version: '1.4.2', engines: { openwop: '>=1.0 <2.0.0' } };

const node = {
  ...identity,
  description: 'Tools of Acme.',
  keywords: ['acme'],
  nodes: [
    {
      typeId: 'vendor.acme.tools.upsert',
      version: '1.4.2',
      label: 'Upsert',
      category: 'integration',
      role: 'side-effect',
      capabilities: ['side-effectful', 'mcp-exportable'],
      configSchemaRef: 'schemas/upsert.config.json',
      requiresSecrets: [{ id: 'crm', kind: 'ai-provider', provider: 'anthropic', scope: 'tenant' }],
      artifact: { typeId: 'vendor.acme.cad.model', syncOn: 'approval', supportsCheckpoint: true },
      requiredModelCapabilities: ['structured-output', 'x-host-acme-vision'],
      fallbackModel: { provider: 'anthropic', model: 'large' },
    },
  ],
  agents: [
    {
      agentId: 'vendor.acme.tools.clerk',
      persona: 'A clerk.',
      modelClass: 'writing',
      systemPromptRef: 'prompts/clerk.md',
      toolAllowlist: ['openwop:vendor.acme.tools.upsert'],
    },
  ],
  runtime: { language: 'javascript', entry: './index.mjs', format: 'esm', requires: ['net.outbound'] },
  connector: {
    id: 'acme',
    displayName: 'Acme',
    auth: { type: 'oauth2', provider: 'acme', scopes: ['api'] },
    actions: [{ typeId: 'vendor.acme.tools.upsert', displayName: 'Upsert', idempotent: true }],
  },
  signing: { method: 'manual', publicKeyRef: 'keys/2026-04.pem', signatureRef: 'keys/pack.json.sig' },
};

export const manifests: Readonly<Record<PackKind, JsonObject>> = {
  node,
  'workflow-chain': {
    ...identity,
    kind: 'workflow-chain',
    chains: [
      {
        chainId: 'greet',
        version: '1.0.0',
        label: 'Greet',
        description: 'Greets.',
        parameters: { type: 'object' },
        dag: { nodes: [{ id: 'a', typeId: 'core.identity' }] },
      },
    ],
  },
  prompt: {
    ...identity,
    kind: 'prompt',
    prompts: [
      {
        templateId: 'greet',
        version: '1.0.0',
        kind: 'user',
        text: 'Hello {{name}}',
        variables: [{ name: 'name', type: 'string', required: true }],
      },
    ],
  },
  'artifact-type': {
    ...identity,
    kind: 'artifact-type',
    artifactTypes: [{ artifactTypeId: 'vendor.acme.cad.model', schemaRef: 'schemas/model.json' }],
  },
  card: {
    ...identity,
    kind: 'card',
    cards: [
      {
        cardTypeId: 'vendor.acme.tools.brief',
        prompt: { template: 'Write about {{topic}}', placeholderMapping: { topic: 'topic' } },
        inputs: [{ id: 'topic', type: 'text' }],
      },
    ],
  },
  connection: {
    ...identity,
    kind: 'connection',
    provider: {
      id: 'acme',
      displayName: 'Acme',
      category: 'crm',
      auth: { kind: 'oauth2', endpoints: { token: 'https://acme.example/token' } },
      reach: { openapi: { ref: 'https://acme.example/openapi.json' } },
      apiHosts: ['api.acme.example'],
    },
  },
  'frontend-plugin': {
    ...identity,
    kind: 'frontend-plugin',
    uiPlugins: [
      { pluginId: 'viewer', surface: 'artifact-viewer', entry: 'dist/index.js', hostApi: ['artifact.read'] },
    ],
  },
  'form-content': {
    ...identity,
    kind: 'form-content',
    templates: [
      {
        templateId: 'vendor.acme.tools.intake',
        version: '1.0.0',
        label: 'Intake',
        title: 'Intake form',
        fields: [{ id: 'name', type: 'text', label: 'Name' }],
      },
    ],
  },
};

/** As an author would write it. */
export const written = (manifest: JsonObject): string => JSON.stringify(manifest, null, 2);

export function manifestOf(value: JsonObject): PackManifest {
  const reading = readManifest(written(value));
  return reading.kind === 'manifest' ? reading.manifest : assert.fail(JSON.stringify(reading.issues));
}

export function issuesOf(value: JsonObject | string): readonly ManifestIssue[] {
  const reading = readManifest(typeof value === 'string' ? value : written(value));
  return reading.kind === 'refused' ? reading.issues : [];
}

/** A copy in which what stands at the pointer is another value, or gone. */
export function changed(manifest: JsonObject, at: string, value?: unknown): JsonObject {
  const copy = structuredClone(manifest);
  const keys = at.split('/').slice(1);
  const last = keys.pop() ?? assert.fail('no member named');
  let holder: unknown = copy;
  for (const key of keys) holder = Reflect.get(Object(holder), key);
  if (value === undefined) Reflect.deleteProperty(Object(holder), last);
  else Reflect.set(Object(holder), last, value);
  return copy;
}
