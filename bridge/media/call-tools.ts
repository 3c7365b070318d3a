// PURE. The tools of one call: which of them end the talk or have the line leave it, which the control thread runs, which are
// refused, and which still run. When the line may end or leave is decided by the turn rules.
import type { PrepareCall } from '../protocol/messages.ts';
import type { TalkEnd } from '../turns/turns.ts';

/** What a call of a tool comes to. */
export type ToolStep =
  /** The control thread runs it. */
  | { do: 'run' }
  /** The model is told why not; and to go on, where `goesOn`. */
  | { do: 'refuse'; error: string; goesOn: boolean }
  /** The talk ends, or the line leaves it, once everything said was heard. `note`: a line of the transcript. */
  | { do: 'end'; reason: TalkEnd; note: string | null }
  /** The other side does not want to be called again: who looks after the call notes it. */
  | { do: 'opt-out' };

/** What the line leaves the talk for; the tool is answered when it is back. */
export type Leaving =
  | { what: 'digits'; toolCallId: string; digits: string }
  | { what: 'transfer'; toolCallId: string; target: string; number: string };

type CallOfTools = Pick<PrepareCall, 'transferTargets' | 'texts' | 'mayOptOut'> & {
  model: Pick<PrepareCall['model'], 'tools'>;
};

export class CallTools {
  readonly #call: CallOfTools;
  /** What the agent has; a model that was talked into it asks for more. */
  readonly #given: ReadonlySet<string>;
  readonly #running = new Set<string>();
  /** What the line will leave this talk for. */
  #leaving: Leaving | null = null;
  /** What it has left for and is not back from. */
  #leftFor: string | null = null;

  constructor(call: CallOfTools) {
    this.#call = call;
    this.#given = new Set(call.model.tools.map(({ name }) => name));
  }

  /** The model calls a tool, with arguments that are untrusted. */
  call(toolCallId: string, name: string, argumentsJson: string): ToolStep {
    switch (name) {
      case 'end_call':
        return { do: 'end', reason: 'agent_ended', note: null };
      case 'transfer_call':
      case 'send_dtmf': {
        const { unknownTool, lineLeaves } = this.#call.texts.refused;
        if (!this.#given.has(name)) return { do: 'refuse', error: unknownTool, goesOn: true };
        // The line is about to leave: the model is not asked to go on.
        if (this.#leaving !== null) return { do: 'refuse', error: lineLeaves, goesOn: false };
        return name === 'transfer_call'
          ? this.#transfer(toolCallId, argumentsJson)
          : this.#press(toolCallId, argumentsJson);
      }
      case 'do_not_call': {
        const { unknownTool } = this.#call.texts.refused;
        if (!this.#call.mayOptOut) return { do: 'refuse', error: unknownTool, goesOn: true };
        return { do: 'opt-out' };
      }
      default:
        this.#running.add(toolCallId);
        return { do: 'run' };
    }
  }

  /** Whether any runs. */
  get busy(): boolean {
    return this.#running.size > 0;
  }

  /** The line has left the talk for a tool that is not answered yet. */
  get away(): boolean {
    return this.#leftFor !== null;
  }

  /** A tool's answer is there. False when none is waited for. */
  done(toolCallId: string): boolean {
    if (toolCallId === this.#leftFor) this.#leftFor = null;
    return this.#running.delete(toolCallId);
  }

  /** Those that run are waited for no longer: their ids. */
  giveUp(): string[] {
    const late = [...this.#running];
    this.#running.clear();
    return late;
  }

  /** The line leaves. Answers what for; null when nothing has asked for it. */
  leave(): Leaving | null {
    const leaving = this.#leaving;
    if (leaving === null) return null;
    this.#leaving = null;
    this.#leftFor = leaving.toolCallId;
    this.#running.add(leaving.toolCallId);
    return leaving;
  }

  /** The line is back. */
  back(): void {
    this.#leftFor = null;
  }

  #transfer(toolCallId: string, argumentsJson: string): ToolStep {
    const { transferTargets, texts } = this.#call;
    const target = readArgument(argumentsJson, 'target');
    const number = Object.hasOwn(transferTargets, target) ? transferTargets[target] : undefined;
    if (number === undefined) return { do: 'refuse', error: texts.refused.unknownTarget, goesOn: true };
    this.#leaving = { what: 'transfer', toolCallId, target, number };
    return { do: 'end', reason: 'transferred', note: `transfer_call: ${target}` };
  }

  #press(toolCallId: string, argumentsJson: string): ToolStep {
    const digits = readArgument(argumentsJson, 'digits');
    if (!/^[0-9*#wW]{1,32}$/.test(digits))
      return { do: 'refuse', error: this.#call.texts.refused.wrongKeys, goesOn: true };
    this.#leaving = { what: 'digits', toolCallId, digits };
    return { do: 'end', reason: 'digits', note: `send_dtmf: ${digits}` };
  }
}

/** One string out of a model's arguments, which are untrusted text. */
function readArgument(json: string, name: string): string {
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value === 'object' && value !== null && Object.hasOwn(value, name)) {
      const field = (value as Record<string, unknown>)[name];
      if (typeof field === 'string') return field;
    }
  } catch {
    // Not JSON: as good as absent.
  }
  return '';
}
