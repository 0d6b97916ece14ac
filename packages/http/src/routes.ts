/** The registered routes: the source of the OpenAPI document and of the responses for wrong methods. */
import type { RouteOptions } from 'fastify';
import type { TSchema } from 'typebox';
import { type Access, type AccessRules, accessOf, documentedPath } from './access.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** For a route that has no rule in the table. */
    access?: Access;
  }
}

export interface RouteSchema {
  readonly summary?: string;
  readonly params?: TSchema;
  readonly querystring?: TSchema;
  /** Header names are in lower case. */
  readonly headers?: TSchema;
  readonly body?: TSchema;
  readonly response?: Readonly<Record<string, TSchema>>;
}

export interface Route {
  readonly method: string;
  /** As in the OpenAPI document. */
  readonly path: string;
  readonly access: Access;
  readonly schema: RouteSchema;
}

export interface Routes {
  readonly all: readonly Route[];
  add(options: RouteOptions): Route;
  /** The methods of a path; empty if there is no such path. */
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
