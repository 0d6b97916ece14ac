/** Files that people write: JSON, or YAML with the same meaning. */
import type { Json } from '@gantry/protocol';
import { type JsonSource, readJsonSource } from './json-source.ts';
import { readYamlSource } from './yaml-source.ts';

const DEPTH_MAX = 64;

const isYaml = (file: string): boolean => /\.ya?ml$/i.test(file);

/** Whether people write workflow definitions in files of this name. */
export const isSource = (file: string): boolean => file.endsWith('.json') || isYaml(file);

/** Reads a file by the end of its name. */
export const readSource = async (file: string, text: string): Promise<JsonSource> =>
  isYaml(file)
    ? readYamlSource(text, { depthMax: DEPTH_MAX })
    : readJsonSource(text, { depthMax: DEPTH_MAX });

export async function yamlOf(value: Json): Promise<string> {
  const { stringify } = await import('yaml');
  return stringify(value, { version: '1.2', schema: 'core', lineWidth: 0, aliasDuplicateObjects: false });
}
