import type { House } from './imports.ts';

const everyTest = {
  'node:*': 'node:test, node:assert, temporary folders, child processes',
  'fast-check': 'properties',
} as const;

/**
 * Who may import whom. Arrows only point down this list; what a room is not given here it does not get.
 * A package without an entry fails the test.
 */
export const HOUSE: House = {
  protocol: {
    source: { typebox: 'schemas and their types from one literal' },
    tests: { ...everyTest, ajv: 'checks our schemas against an independent validator' },
  },
  engine: {
    source: {
      '@gantry/protocol': 'events, commands and definitions are its shapes',
      '@marcbachmann/cel-js': 'the expression language: synchronous, total, bounded',
      re2js: 'regular expressions from outside in linear time',
    },
    tests: { ...everyTest },
  },
  store: {
    source: {
      '@gantry/protocol': 'rows carry its events and statuses',
      postgres: 'driver of the PostgreSQL adapter',
      'node:*': 'node:sqlite, worker threads, files',
    },
    tests: { ...everyTest },
  },
  egress: {
    source: {
      undici: 'HTTP client whose connections can be pinned to a checked address',
      'node:*': 'name resolution, sockets, TLS',
    },
    tests: { ...everyTest },
  },
  packs: {
    source: {
      '@gantry/protocol': 'definitions and errors',
      typebox: 'schemas of manifests',
      semver: 'version ranges with npm precedence',
      'tar-stream': 'archives, entry by entry',
      '@sigstore/bundle': 'Sigstore bundles: their shape',
      '@sigstore/protobuf-specs': 'Sigstore trusted roots',
      '@sigstore/verify': 'Sigstore bundles: their proof',
      'node:*': 'hashes, signatures, gzip',
    },
    tests: { ...everyTest },
  },
  sandbox: {
    source: {
      '@gantry/protocol': 'errors and events of nodes',
      '@gantry/egress': 'what pack code may reach goes through it',
      'node:*': 'child processes, pipes, files',
    },
    tests: { ...everyTest, wabt: 'WebAssembly text to bytes' },
  },
  host: {
    source: {
      '@gantry/protocol': 'the wire',
      '@gantry/engine': 'decide and apply',
      '@gantry/store': 'the durable port and its adapters',
      '@gantry/egress': 'webhooks leave through it',
      '@gantry/packs': 'packs: manifests, trust, chains',
      '@gantry/sandbox': 'runs what packs bring',
      ajv: 'schemas that users bring',
      canonicalize: 'RFC 8785: content hashes of definitions and request digests',
      croner: 'cron expressions with time zones',
      fastify: 'HTTP',
      pino: 'the log',
      re2js: 'patterns inside those schemas in linear time',
      typebox: 'schemas of routes',
      'node:*': 'files, timers, crypto, signals',
    },
    tests: { ...everyTest, '@gantry/client': 'drives the host through the front door' },
  },
  client: {
    source: { '@gantry/protocol': 'request and answer types; runs in browsers too, so no built-ins' },
    tests: { ...everyTest, '@gantry/host': 'a real host to speak to' },
  },
  cli: {
    source: {
      '@gantry/client': 'the only way to a host',
      '@gantry/packs': 'authors check, build and sign where they write, without a host',
      '@gantry/protocol': 'types of what it prints',
      'node:*': 'arguments, terminal, files',
    },
    tests: { ...everyTest, '@gantry/host': 'a real host to speak to' },
  },
};
