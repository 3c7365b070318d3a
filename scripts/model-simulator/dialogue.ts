// PURE. Decides what the agent's side answers: finds the situation in the conversation, takes the first rule that fits,
// fills in its places. It knows no client: only items, instructions and the tools that were offered.
import { believedText, type Item } from './conversation.ts';
import type { Occasion, Rule, Scenario, ToolCall } from './scenario.ts';
import type { FunctionTool, Tool } from './session-config.ts';

export interface Reply {
  occasion: Occasion;
  /** Place of the rule in the scenario, null when none fitted. */
  rule: number | null;
  say: string;
  calls: { name: string; arguments: string }[];
  /** Tools the rule wanted and the session does not offer. */
  missingTools: string[];
}

export interface Situation {
  context: readonly Item[];
  sessionInstructions: string;
  /** The instructions of the single response, which take the place of the session's. */
  responseInstructions: string | null;
  outOfBand: boolean;
  tools: readonly Tool[];
  toolChoice: unknown;
  /** Places of rules with `once` that have been used. */
  used: Pick<ReadonlySet<number>, 'has'>;
}

interface Known {
  occasion: Occasion;
  turn: number;
  heard: string;
  own: string;
  told: string;
  tool: { name: string; output: string; arguments: string } | null;
}

function know(scenario: Scenario, situation: Situation): Known {
  const { context, sessionInstructions, responseInstructions } = situation;
  const whole = responseInstructions ?? '';
  // A client repeats the session's instructions, because the response's replace them; what it added is what counts.
  const own = whole.startsWith(sessionInstructions) ? whole.slice(sessionInstructions.length) : whole;
  const callers = context.filter((item) => item.role === 'user');
  const lastCaller = callers.at(-1);
  const lastAgent = context.findLastIndex(
    (item) => item.role === 'assistant' || item.type === 'function_call',
  );
  const lastOutput = context.findLast((item) => item.type === 'function_call_output');
  const call = context.find((item) => item.type === 'function_call' && item.call_id === lastOutput?.call_id);
  const latest = context.findLast((item) => item.role !== 'system');
  // A situation that the scenario has no rule for is none: then the items decide.
  let occasion = scenario.occasions.find(
    ([name, words]) => own !== '' && words.test(own) && scenario.rules.some((rule) => rule.on === name),
  )?.[0];
  if (occasion === undefined) {
    if (situation.outOfBand) occasion = 'out_of_band';
    else if (latest?.type === 'function_call_output') occasion = 'tool_result';
    else if (lastCaller !== undefined && context.indexOf(lastCaller) > lastAgent) occasion = 'caller';
    else if (lastCaller === undefined && lastAgent < 0) occasion = 'greeting';
    else occasion = 'silence';
  }
  return {
    occasion,
    turn: callers.length,
    heard: lastCaller === undefined ? '' : believedText(lastCaller),
    own,
    told: toldSince(context),
    tool:
      lastOutput === undefined
        ? null
        : { name: call?.name ?? '', output: lastOutput.output ?? '', arguments: call?.arguments ?? '' },
  };
}

/** What was said to the model alone, behind all words of the two. */
function toldSince(context: readonly Item[]): string {
  const last = context.findLastIndex((item) => item.role === 'user' || item.role === 'assistant');
  return context
    .slice(last + 1)
    .filter((item) => item.role === 'system')
    .map(believedText)
    .join('\n');
}

function fits(rule: Rule, known: Known): boolean {
  if (rule.on !== known.occasion && rule.on !== 'any') return false;
  if (rule.heard !== undefined && !rule.heard.test(known.heard)) return false;
  if (rule.turn !== undefined && rule.turn !== known.turn) return false;
  if (rule.instructions !== undefined && !rule.instructions.test(known.own)) return false;
  if (rule.told !== undefined && !rule.told.test(known.told)) return false;
  if (rule.toolName !== undefined && rule.toolName !== known.tool?.name) return false;
  if (rule.result !== undefined && !rule.result.test(known.tool?.output ?? '')) return false;
  return true;
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return json;
  }
}

function reach(value: unknown, path: readonly string[]): unknown {
  let at = value;
  for (const name of path) {
    if (typeof at !== 'object' || at === null) return undefined;
    at = (at as Record<string, unknown>)[name];
  }
  return at;
}

/**
 * Fills `{{heard}}`, `{{heard.1}}` and `{{instructions.1}}` (groups of the rule), `{{tool.field}}`, `{{args.field}}`;
 * `{{x|y}}` says y without x.
 */
function fill(text: string, rule: Rule, known: Known): string {
  return text.replaceAll(
    /\{\{([^}|]*)(?:\|([^}]*))?\}\}/g,
    (_, place: string, otherwise: string | undefined) => {
      const [source, ...path] = place.trim().split('.');
      let value: unknown;
      if (source === 'heard')
        value = path.length === 0 ? known.heard : rule.heard?.exec(known.heard)?.[Number(path[0])];
      else if (source === 'instructions') value = rule.instructions?.exec(known.own)?.[Number(path[0])];
      else if (source === 'tool') value = reach(parsed(known.tool?.output ?? ''), path);
      else if (source === 'args') value = reach(parsed(known.tool?.arguments ?? ''), path);
      if (value === undefined || value === null || value === '') return otherwise ?? '';
      const words = typeof value === 'string' ? value : JSON.stringify(value);
      return path.length === 0 && source === 'heard' && !/[.!?]$/.test(words) ? `${words}.` : words;
    },
  );
}

/** Arguments the tool demands and the rule does not give: a model would make something up as well. */
function completed(given: Record<string, unknown>, tool: FunctionTool | undefined): Record<string, unknown> {
  const schema = tool?.parameters as
    | { required?: string[]; properties?: Record<string, { type?: string; enum?: unknown[] }> }
    | undefined;
  const all = { ...given };
  for (const name of schema?.required ?? []) {
    if (name in all) continue;
    const property = schema?.properties?.[name];
    if (property?.enum !== undefined) all[name] = property.enum[0];
    else if (property?.type === 'number' || property?.type === 'integer') all[name] = 0;
    else if (property?.type === 'boolean') all[name] = true;
    else if (property?.type === 'array') all[name] = [];
    else if (property?.type === 'object') all[name] = {};
    else all[name] = 'as agreed';
  }
  return all;
}

function filled(value: unknown, rule: Rule, known: Known): unknown {
  if (typeof value === 'string') return fill(value, rule, known);
  if (Array.isArray(value)) return value.map((entry) => filled(entry, rule, known));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, filled(entry, rule, known)]));
  return value;
}

/** The reply of a scenario in a situation. Without a fitting rule it says that it has none, audibly. */
export function decide(scenario: Scenario, situation: Situation): Reply {
  const known = know(scenario, situation);
  const rule = scenario.rules.findIndex(
    (candidate, index) => fits(candidate, known) && !(candidate.once && situation.used.has(index)),
  );
  const chosen = scenario.rules[rule];
  if (chosen === undefined)
    return {
      occasion: known.occasion,
      rule: null,
      say: 'I am sorry, I have no answer to that.',
      calls: [],
      missingTools: [],
    };
  const reply: Reply = {
    occasion: known.occasion,
    rule,
    say: fill(chosen.say ?? '', chosen, known)
      .replaceAll(/\s+/g, ' ')
      .trim(),
    calls: [],
    missingTools: [],
  };
  for (const call of situation.toolChoice === 'none' ? [] : chosen.tools) {
    const tool = situation.tools.find(
      (offered): offered is FunctionTool => offered.type === 'function' && offered.name === call.name,
    );
    if (tool === undefined) reply.missingTools.push(call.name);
    else reply.calls.push({ name: call.name, arguments: argumentsOf(call, tool, chosen, known) });
  }
  return reply;
}

function argumentsOf(call: ToolCall, tool: FunctionTool, rule: Rule, known: Known): string {
  if (typeof call.arguments === 'string') return fill(call.arguments, rule, known);
  return JSON.stringify(
    completed(filled(call.arguments ?? {}, rule, known) as Record<string, unknown>, tool),
  );
}
