/** `GANTRY_TOOLS`: which tools nodes may not call, and which calls need an approval. */
import { didYouMean } from '@gantry/protocol';

/** `approve-writes`: calls that may change something. */
const RULES = ['allow', 'approve', 'approve-writes', 'forbid'] as const;
export type ToolRule = (typeof RULES)[number];

export interface ToolRuleEntry {
  readonly tool: string;
  /** Only for this tenant; takes precedence over an entry without a tenant. */
  readonly tenant?: string;
  readonly rule: ToolRule;
}

const ENTRY = /^([^@=\s]+)(?:@([^@=\s]+))?=(\S+)$/;

/** `http.safeFetch=approve-writes`, `fetch@acme=forbid`. Throws an `Error` that names what is wrong. */
export function readToolRule(text: string, tools: readonly string[]): ToolRuleEntry {
  const [, tool = '', tenant, word = ''] = ENTRY.exec(text) ?? [];
  const rule = RULES.find((each) => each === word);
  if (!tools.includes(tool))
    throw new Error(
      `"${text}" is not a tool.${didYouMean(tool, [...tools])} Tools are ${tools.join(' and ')}; an entry is such as ${tools[0]}=approve-writes.`,
    );
  if (!rule)
    throw new Error(`"${text}" has no rule.${didYouMean(word, [...RULES])} Rules are ${RULES.join(', ')}.`);
  return { tool, rule, ...(tenant !== undefined && { tenant }) };
}

export type RuleOf = (tenant: string, tool: string) => ToolRule;

export const ruleOf =
  (entries: readonly ToolRuleEntry[]): RuleOf =>
  (tenant, tool) => {
    const found = entries.filter((entry) => entry.tool === tool && (entry.tenant ?? tenant) === tenant);
    return (found.find((entry) => entry.tenant !== undefined) ?? found[0])?.rule ?? 'allow';
  };
