/** The routes as registered: what the OpenAPI document and the answers for wrong methods are made from. */
import type { RouteOptions } from 'fastify';
import type { TSchema } from 'typebox';
import { type Access, type AccessRules, accessOf, documentedPath } from './access.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Of a route that has no rule in the table. */
    access?: Access;
  }
}

export interface RouteSchema {
  readonly summary?: string;
  readonly params?: TSchema;
  readonly querystring?: TSchema;
  /** Their names in lower case. */
  readonly headers?: TSchema;
  readonly body?: TSchema;
  readonly response?: Readonly<Record<string, TSchema>>;
}

export interface Route {
  readonly method: string;
  /** As the OpenAPI document writes it. */
  readonly path: string;
  readonly access: Access;
  readonly schema: RouteSchema;
}

export interface Routes {
  readonly all: readonly Route[];
  add(options: RouteOptions): Route;
  /** The methods a path takes; empty when there is no such path. */
  methodsOf(path: string): string[];
}

const pathPattern = (path: string): RegExp =>
  new RegExp(`^${path.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{\w+\}/g, '[^/:]+')}$`);

export function createRoutes(rules: AccessRules): Routes {
  const all: Route[] = [];
  return {
    all,
    add({ method, url, schema, config }) {
      const route = {
        method: String(method),
        path: documentedPath(url),
        access: config?.access ?? accessOf(rules, String(method), url),
        schema: (schema ?? {}) as RouteSchema,
      };
      all.push(route);
      return route;
    },
    methodsOf(path) {
      return all.filter((route) => pathPattern(route.path).test(path)).map((route) => route.method);
    },
  };
}
