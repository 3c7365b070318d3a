// The tools of one live call: those that end or leave the line are done here, the others are run by the control thread.
// When the line may end or leave is decided by the turn rules.
import type { FromMedia, PrepareCall } from '../protocol/messages.ts';
import type { TalkEnd } from '../turns/turns.ts';

export interface CallToolPorts {
  post(message: FromMedia): void;
  now(): number;
  /** Answers the model at once. */
  answer(toolCallId: string, output: Record<string, unknown>): void;
  /** Writes a line of the transcript. */
  note(text: string): void;
  endRequested(reason: TalkEnd): void;
  /** A tool has been answered without having run. */
  answered(): void;
}

/** A tool that the line leaves the talk for. */
type Leaving = { toolCallId: string } & ({ digits: string } | { target: string; number: string });

type CallOfTools = Pick<PrepareCall, 'callId' | 'transferTargets' | 'texts'> & {
  model: Pick<PrepareCall['model'], 'tools'>;
};

export class CallTools {
  readonly #call: CallOfTools;
  readonly #ports: CallToolPorts;
  /** What the agent has; a model that was talked into it asks for more. */
  readonly #given: ReadonlySet<string>;
  readonly #running = new Set<string>();
  /** What the line will leave this talk for, once everything said was heard. */
  #leaving: Leaving | null = null;
  /** What it has left for and is not back from. */
  #leftFor: string | null = null;

  constructor(call: CallOfTools, ports: CallToolPorts) {
    this.#call = call;
    this.#ports = ports;
    this.#given = new Set(call.model.tools.map(({ name }) => name));
  }

  run(toolCallId: string, name: string, argumentsJson: string): void {
    const ports = this.#ports;
    switch (name) {
      case 'end_call':
        ports.answer(toolCallId, { ok: true });
        ports.endRequested('agent_ended');
        return;
      case 'transfer_call':
      case 'send_dtmf': {
        const { refused } = this.#call.texts;
        if (!this.#given.has(name)) this.#refuse(toolCallId, refused.unknownTool);
        // The line is about to leave: the model is not asked to go on.
        else if (this.#leaving !== null) ports.answer(toolCallId, { error: refused.lineLeaves });
        else if (name === 'transfer_call') this.#transfer(toolCallId, argumentsJson);
        else this.#press(toolCallId, argumentsJson);
        return;
      }
      default: {
        const { callId } = this.#call;
        this.#running.add(toolCallId);
        ports.post({ type: 'tool-called', callId, toolCallId, name, argumentsJson, atMs: ports.now() });
      }
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

  /** The line leaves for what a tool has asked, whose answer comes when it is back. False when none has. */
  leave(): boolean {
    const leaving = this.#leaving;
    if (leaving === null) return false;
    const { callId } = this.#call;
    this.#leaving = null;
    this.#leftFor = leaving.toolCallId;
    this.#running.add(leaving.toolCallId);
    if ('digits' in leaving) this.#ports.post({ type: 'digits-requested', callId, ...leaving });
    else this.#ports.post({ type: 'transfer-requested', callId, ...leaving });
    return true;
  }

  /** The line is back. */
  back(): void {
    this.#leftFor = null;
  }

  #transfer(toolCallId: string, argumentsJson: string): void {
    const { transferTargets, texts } = this.#call;
    const target = readArgument(argumentsJson, 'target');
    const number = Object.hasOwn(transferTargets, target) ? transferTargets[target] : undefined;
    if (number === undefined) {
      this.#refuse(toolCallId, texts.refused.unknownTarget);
      return;
    }
    this.#leaving = { toolCallId, target, number };
    this.#ports.note(`transfer_call: ${target}`);
    this.#ports.endRequested('transferred');
  }

  #press(toolCallId: string, argumentsJson: string): void {
    const digits = readArgument(argumentsJson, 'digits');
    if (!/^[0-9*#wW]{1,32}$/.test(digits)) {
      this.#refuse(toolCallId, this.#call.texts.refused.wrongKeys);
      return;
    }
    this.#leaving = { toolCallId, digits };
    this.#ports.note(`send_dtmf: ${digits}`);
    this.#ports.endRequested('digits');
  }

  #refuse(toolCallId: string, error: string): void {
    this.#ports.answer(toolCallId, { error });
    this.#ports.answered();
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
