// PURE. A call that another thread or process has had until it died, as it goes on here: what the model is told of the talk, and
// what comes first. What was lost with the other one is lost: no answer of a tool comes any more, and nobody asks for machines.
import type { HistoryLine } from '../models/model.ts';
import { fillIn, UNINTELLIGIBLE } from '../protocol/agent-texts.ts';
import type { PrepareCall, Resumed } from '../protocol/messages.ts';
import type { CutOff } from '../turns/cut-off.ts';

/** A model's arguments may be long, and it has made them up itself. */
const MOST_ARGUMENTS = 400;

/** The plan of a call as it is carried out: of one that begins here, as it is. */
export function takenUp(plan: PrepareCall): PrepareCall {
  const { resumed, model, texts } = plan;
  if (resumed === null) return plan;
  return { ...plan, model: { ...model, history: historyOf(resumed, texts.unfinishedTool) }, machine: 'none' };
}

/** How the call was left; null: it begins here, or nobody has heard a word on it yet, which is the same to both. */
export function cutOffOf(resumed: Resumed | null): CutOff | null {
  const last = resumed?.talk.findLast(
    ({ role, text }) => role === 'caller' || (role === 'agent' && text !== ''),
  );
  if (resumed === null || last === undefined) return null;
  return { lostAtMs: resumed.lostAtMs, owed: last.role === 'caller' };
}

function historyOf({ talk, unfinishedTools }: Resumed, unfinishedTool: string): HistoryLine[] {
  const unfinished = unfinishedTools.map(({ name, argumentsJson }): HistoryLine => {
    const text = fillIn(unfinishedTool, { name, arguments: argumentsJson.slice(0, MOST_ARGUMENTS) });
    return { role: 'system', text };
  });
  return [...talk.map(lineOf), ...unfinished];
}

function lineOf({ role, text }: Resumed['talk'][number]): HistoryLine {
  // Whoever speaks of it has words of his own for that.
  if (role === 'caller') return { role, text: text === UNINTELLIGIBLE ? '' : text };
  return role === 'tool' ? (usedTool(text) ?? { role: 'system', text }) : { role, text };
}

/** A tool that was run, by its line in the transcript; null where that is a note of the talk's own. */
function usedTool(line: string): HistoryLine | null {
  let said: unknown;
  try {
    said = JSON.parse(line);
  } catch {
    return null;
  }
  const { name, arguments: argumentsJson, output } = (said ?? {}) as Record<string, unknown>;
  return typeof name === 'string' && typeof argumentsJson === 'string' && typeof output === 'string'
    ? { role: 'tool', name, argumentsJson, output }
    : null;
}
