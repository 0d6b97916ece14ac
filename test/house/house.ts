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
  limiter: {
    source: {},
    tests: { ...everyTest },
  },
  postgres: {
    source: {
      '@gantry/limiter': 'how many transactions are under way at once',
      postgres: 'the driver',
      'node:*': 'sockets',
    },
    tests: { ...everyTest },
  },
  store: {
    source: {
      '@gantry/limiter': 'tenants take turns',
      '@gantry/protocol': 'rows carry its events and statuses',
      '@gantry/postgres': 'connections of the PostgreSQL adapter',
      '@aws-sdk/client-s3': 'buckets that a setting names',
      'node:*': 'node:sqlite, worker threads, files',
    },
    tests: { ...everyTest, postgres: 'what the adapter wrote, seen from outside' },
  },
  resources: {
    source: {
      '@gantry/protocol': 'errors, ids, and what a resource looks like from outside',
      '@gantry/store': 'records are entries, a change is a commit group',
      'node:*': 'timers',
    },
    tests: { ...everyTest, typebox: 'the wire of a sample resource' },
  },
  egress: {
    source: {
      '@gantry/limiter': 'tenants take turns',
      undici: 'HTTP client whose connections can be pinned to a checked address',
      'node:*': 'name resolution, sockets, TLS',
    },
    tests: { ...everyTest },
  },
  packs: {
    source: {
      '@gantry/protocol': 'definitions and errors',
      '@gantry/egress': 'registries are reached through it',
      typebox: 'schemas of manifests',
      semver: 'version ranges with npm precedence',
      acorn: 'JavaScript of packs, parsed to find the surfaces it calls',
      ignore: '.openwopignore, in linear time',
      yaml: 'files that people write in YAML',
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
      '@gantry/limiter': 'tenants take turns',
      '@gantry/protocol': 'errors and events of nodes',
      '@gantry/egress': 'what pack code may reach goes through it',
      '@modelcontextprotocol/sdk': 'remote packs are MCP servers',
      'node:*': 'child processes, pipes, files',
    },
    tests: { ...everyTest, wabt: 'WebAssembly text to bytes' },
  },
  ai: {
    source: {
      '@gantry/protocol': 'JSON, and problems of values in words',
      jsonrepair: 'JSON that a model broke',
      '@ai-sdk/anthropic': 'Messages API',
      '@ai-sdk/google': 'Gemini API',
      '@ai-sdk/openai': 'Responses API, images, speech',
      '@ai-sdk/openai-compatible': 'Chat Completions API',
      '@ai-sdk/provider': 'types of the model interface of these four',
      typebox: 'the script language and envelopes as schemas',
      'node:crypto': 'hashes in names of tools, vectors and colours of scripts',
      'node:zlib': 'images of scripts',
      'node:timers/promises': 'pauses of scripts',
    },
    tests: { ...everyTest },
  },
  http: {
    source: {
      '@gantry/limiter': 'tenants take turns',
      '@gantry/protocol': 'errors and scopes',
      '@gantry/store': 'keys and idempotency records',
      canonicalize: 'RFC 8785: digests of requests',
      fastify: 'HTTP',
      pino: 'the log',
      typebox: 'schemas of routes',
      'node:*': 'hashes, compression, sockets',
    },
    tests: { ...everyTest },
  },
  registry: {
    source: {
      '@gantry/limiter': 'tenants take turns',
      '@gantry/protocol': 'errors',
      '@gantry/http': 'the same doors as the host: keys, scopes, errors',
      '@gantry/packs': 'manifests, archives, trust',
      '@gantry/store': 'what is published, durably',
      fastify: 'HTTP',
      pino: 'the log',
      semver: 'order of versions',
      typebox: 'schemas of routes',
      'node:*': 'files, hashes, signals',
    },
    tests: {
      ...everyTest,
      '@gantry/egress': 'the client of registries, over HTTP',
      s3rver: 'an S3 server',
      'playwright-core': 'pages in a real browser',
    },
  },
  surfaces: {
    source: {
      '@gantry/limiter': 'tenants take turns',
      '@gantry/protocol': 'errors and JSON',
      '@gantry/resources': 'writes of surfaces on resources are changes',
      '@gantry/egress': 'backends elsewhere are reached through it',
      '@gantry/store': 'durable ports',
      '@aws-sdk/client-s3': 'blobs in an S3 bucket',
      '@aws-sdk/s3-request-presigner': 'links to those blobs that expire',
      mysql2: 'SQL data sources on MySQL',
      'pdf-lib': 'PDF pages split and merged',
      '@gantry/postgres': 'connections of backends on PostgreSQL',
      postgres: 'SQL data sources on PostgreSQL',
      sharp: 'images',
      'sqlite-vec': 'nearest vectors in the embedded database',
      typebox: 'a method is its schemas',
      'tar-stream': 'archives, written',
      unpdf: 'text of PDF files',
      'node:*': 'node:sqlite, worker threads, files, hashes',
    },
    tests: {
      ...everyTest,
      '@gantry/sandbox': 'real pack code calls the surfaces',
      '@electric-sql/pglite': 'PostgreSQL as WebAssembly',
      '@electric-sql/pglite-pgvector': 'pgvector for it',
      '@electric-sql/pglite-prepopulatedfs': 'its data folder, ready made',
      s3rver: 'an S3 server',
    },
  },
  host: {
    source: {
      '@gantry/ai': 'models, envelopes and prompts',
      '@gantry/limiter': 'tenants take turns',
      '@gantry/protocol': 'the wire',
      '@gantry/http': 'the server: keys, scopes, errors, idempotency',
      '@gantry/registry': 'mounted where the settings ask for it',
      '@gantry/surfaces': 'what nodes may ask of the host',
      '@gantry/engine': 'decide and apply',
      '@gantry/resources': 'what the host keeps, and how it changes',
      '@gantry/store': 'the durable port and its adapters',
      '@gantry/egress': 'webhooks leave through it',
      '@gantry/packs': 'packs: manifests, trust, chains',
      '@gantry/sandbox': 'runs what packs bring',
      ajv: 'schemas that users bring',
      canonicalize: 'RFC 8785: content hashes of definitions and request digests',
      croner: 'cron expressions with time zones',
      fastify: 'HTTP',
      oauth4webapi: 'token requests and callbacks of OAuth',
      nodemailer: 'mail of connectors',
      pino: 'the log',
      re2js: 'patterns inside those schemas in linear time',
      typebox: 'schemas of routes',
      'node:*': 'files, timers, crypto, signals',
    },
    tests: {
      ...everyTest,
      '@gantry/client': 'drives the host through the front door',
      'oidc-provider': 'a provider to connect to',
      'smtp-server': 'a mail server',
    },
  },
  client: {
    source: { '@gantry/protocol': 'request and answer types; runs in browsers too, so no built-ins' },
    tests: { ...everyTest, '@gantry/host': 'a real host to speak to' },
  },
  cli: {
    source: {
      '@gantry/client': 'the only way to a host',
      '@gantry/egress': 'registries are reached through it',
      '@gantry/packs': 'authors check, build and sign where they write, without a host',
      '@gantry/protocol': 'types of what it prints',
      'node:*': 'arguments, terminal, files',
    },
    tests: {
      ...everyTest,
      '@gantry/ai': 'servers of models to ask',
      '@gantry/host': 'a real host to speak to',
      '@gantry/registry': 'a real registry to speak to',
      typebox: 'the wire of a sample resource',
    },
  },
};
