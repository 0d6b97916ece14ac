/** The JSON Schema of definitions for editors, with the config of the node types that every host has. */
import { CONFIG_MEMBERS } from '@gantry/engine';
import { type JsonObject, OMITTED, WorkflowDefinition, WorkflowNode } from '@gantry/protocol';

export function workflowSchema(): JsonObject {
  const plain = (schema: unknown): JsonObject => JSON.parse(JSON.stringify(schema));
  const definition = plain(WorkflowDefinition);
  const node = plain(WorkflowNode);
  const { typeId } = node.properties as { typeId: JsonObject };
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'OpenWOP workflow definition',
    ...definition,
    required: without(definition.required, OMITTED.workflow),
    properties: {
      $schema: { type: 'string' },
      ...(definition.properties as JsonObject),
      nodes: {
        type: 'array',
        items: {
          ...node,
          required: without(node.required, OMITTED.node),
          properties: {
            ...(node.properties as JsonObject),
            // Types of packs are allowed too
            typeId: { anyOf: [{ enum: Object.keys(CONFIG_MEMBERS) }, typeId] },
          },
          allOf: Object.entries(CONFIG_MEMBERS).map(([type, members]) => configOf(type, members)),
        },
      },
    },
  };
}

const without = (required: unknown, omitted: readonly string[]): string[] =>
  (required as string[]).filter((name) => !omitted.includes(name));

/** `[type, names]` as a rule; written as pairs, since a literal with a member `then` looks like a promise. */
const configOf = (type: string, members: readonly string[]): JsonObject => {
  const config = {
    properties: Object.fromEntries(members.map((name) => [name, {}])),
    additionalProperties: false,
  };
  return Object.fromEntries([
    ['if', { properties: { typeId: { const: type } }, required: ['typeId'] }],
    ['then', { properties: { config } }],
  ]);
};
