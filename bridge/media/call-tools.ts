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

export interface CallTools {
  run(toolCallId: string, name: string, argumentsJson: string): void;
  /** How many run. */
  running(): number;
  /** Those that run are waited for no longer: their ids. */
  giveUp(): string[];
  /** A tool's answer is there. False when none is waited for. */
  done(toolCallId: string): boolean;
  /** The line leaves for what a tool has asked, whose answer comes when it is back. False when none has. */
  leave(): boolean;
}

export function createCallTools(
  call: Pick<PrepareCall, 'callId' | 'transferTargets' | 'texts'> & {
    model: Pick<PrepareCall['model'], 'tools'>;
  },
  ports: CallToolPorts,
): CallTools {
  const { callId } = call;
  const { refused } = call.texts;
  const running = new Set<string>();
  /** What the agent has; a model that was talked into it asks for more. */
  const given = new Set(call.model.tools.map(({ name }) => name));
  /** What the line will leave this talk for, once everything said was heard. */
  let leaving: ({ toolCallId: string } & ({ digits: string } | { target: string; number: string })) | null =
    null;

  return {
    run(toolCallId, name, argumentsJson) {
      if (name === 'end_call') {
        ports.answer(toolCallId, { ok: true });
        ports.endRequested('agent_ended');
        return;
      }
      if (!given.has(name) && (name === 'transfer_call' || name === 'send_dtmf')) {
        ports.answer(toolCallId, { error: refused.unknownTool });
        ports.answered();
        return;
      }
      if (leaving !== null && (name === 'transfer_call' || name === 'send_dtmf')) {
        ports.answer(toolCallId, { error: refused.lineLeaves });
        return;
      }
      if (name === 'transfer_call') {
        const target = readArgument(argumentsJson, 'target');
        const number = Object.hasOwn(call.transferTargets, target) ? call.transferTargets[target] : undefined;
        if (number === undefined) {
          ports.answer(toolCallId, { error: refused.unknownTarget });
          ports.answered();
          return;
        }
        leaving = { toolCallId, target, number };
        ports.note(`transfer_call: ${target}`);
        ports.endRequested('transferred');
        return;
      }
      if (name === 'send_dtmf') {
        const digits = readArgument(argumentsJson, 'digits');
        if (!/^[0-9*#wW]{1,32}$/.test(digits)) {
          ports.answer(toolCallId, { error: refused.wrongKeys });
          ports.answered();
          return;
        }
        leaving = { toolCallId, digits };
        ports.note(`send_dtmf: ${digits}`);
        ports.endRequested('digits');
        return;
      }
      running.add(toolCallId);
      ports.post({ type: 'tool-called', callId, toolCallId, name, argumentsJson, atMs: ports.now() });
    },
    running: () => running.size,
    done: (toolCallId) => running.delete(toolCallId),
    giveUp() {
      const late = [...running];
      running.clear();
      return late;
    },
    leave() {
      if (leaving === null) return false;
      running.add(leaving.toolCallId);
      if ('digits' in leaving) ports.post({ type: 'digits-requested', callId, ...leaving });
      else ports.post({ type: 'transfer-requested', callId, ...leaving });
      leaving = null;
      return true;
    },
  };
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
