// A model for tests, of another shape than OpenAI's: it is given turns and answers each of them, and each tool's result, by
// itself; linear samples at 24 kHz both ways; it believes what it has said, and speaks given lines. Answers in its own time.
import type { AudioFormat } from '../../../audio/format.ts';
import { bytesPerMs } from '../../../audio/format.ts';
import type {
  ModelCapabilities,
  ModelConfig,
  ModelListener,
  ModelSession,
} from '../../../bridge/models/model.ts';

const FORMAT: AudioFormat = { encoding: 'pcm16', rateHz: 24000 };
const MIN_TURN_MS = 100;

export interface TurnModelOptions {
  can?: Partial<ModelCapabilities>;
  /** Both ways; linear at 24 kHz where it is not said. */
  format?: AudioFormat;
  /** The sound of what it says, in its format. */
  voice?: (text: string) => Buffer;
  /** What it says to a turn, a question, or a tool's result. */
  answer?: (about: string) => { text: string; tool?: string };
  /** Told of each turn's sound. */
  heard?: (turn: Buffer) => void;
}

export function openTurnModel(
  config: Pick<ModelConfig, 'instructions' | 'history'>,
  listener: ModelListener,
  o: TurnModelOptions = {},
): ModelSession {
  const said = config.history?.findLast((line) => line.role === 'caller');
  return new TurnModel(said?.role === 'caller' ? said.text : config.instructions, listener, o);
}

class TurnModel implements ModelSession {
  readonly capabilities: ModelCapabilities;
  readonly takes: AudioFormat;
  readonly gives: AudioFormat;
  /** What it speaks about when it is not told: what was said last, else what it was made for. */
  readonly #about: string;
  readonly #listener: ModelListener;
  readonly #o: TurnModelOptions;
  #ready = false;
  #over = false;
  #given: Buffer[] = [];
  #turns = 0;
  #responses = 0;
  /** What is to be said, oldest first; the first one is being said. */
  #due: { about: string; exactly: boolean }[] = [];
  #speaking = false;
  /** Rises with each interruption: what was begun before is dropped. */
  #era = 0;

  constructor(about: string, listener: ModelListener, o: TurnModelOptions) {
    this.capabilities = {
      turns: 'bridge',
      commits: true,
      answersByItself: true,
      truncates: false,
      takesBack: false,
      saysLines: true,
      callsTools: true,
      transcribes: true,
      ...o.can,
    };
    this.takes = o.format ?? FORMAT;
    this.gives = o.format ?? FORMAT;
    this.#about = about;
    this.#listener = listener;
    this.#o = o;
  }

  open(): void {
    this.#later(() => {
      this.#ready = true;
      this.#listener.ready({ renewed: false, tookMs: 0 });
      this.#speak();
    });
  }

  appendAudio(payload: Buffer): void {
    if (this.#ready && !this.#over) this.#given.push(Buffer.from(payload));
  }

  clearAudio(): void {
    if (this.capabilities.commits) this.#given = [];
  }

  endTurn(): number | null {
    const sound = Buffer.concat(this.#given);
    if (this.#over || sound.length < MIN_TURN_MS * bytesPerMs(this.takes)) return null;
    this.#given = [];
    this.#o.heard?.(sound);
    const turn = this.#turns++;
    this.#later(() => this.#listener.callerText(turn, `words of turn ${turn}`));
    if (this.capabilities.answersByItself) this.#ask({ about: `turn ${turn}`, exactly: false });
    return turn;
  }

  respond(o?: { instructions?: string }): void {
    if (this.#over || this.#due.length > 1) return;
    this.#listener.requested();
    this.#ask({ about: o?.instructions ?? this.#about, exactly: false });
  }

  say(line: string): void {
    if (this.capabilities.saysLines && !this.#over) this.#ask({ about: line, exactly: true });
  }

  interrupt(): void {
    if (this.#due.length > 0) {
      const responseId = `response-${this.#responses++}`;
      this.#later(() =>
        this.#listener.responseDone({
          responseId,
          status: 'cancelled',
          reason: null,
          hadAudio: false,
          toolCalls: 0,
        }),
      );
    }
    this.#due = [];
    this.#speaking = false;
    this.#era++;
  }

  takeBack(): void {}

  addText(): void {}

  sendToolResult(_toolCallId: string, output: string): void {
    if (this.capabilities.answersByItself && !this.#over) this.#ask({ about: output, exactly: false });
  }

  busy(): boolean {
    return !this.#over && this.#due.length > 0;
  }

  async close(): Promise<void> {
    this.#over = true;
  }

  #ask(what: { about: string; exactly: boolean }): void {
    this.#due.push(what);
    if (this.#ready) this.#speak();
  }

  /** Half of what it says at once, the rest and the end a moment later: time to be interrupted. */
  #speak(): void {
    const era = this.#era;
    const due = this.#due[0];
    if (due === undefined || this.#speaking) return;
    this.#speaking = true;
    this.#later(() => {
      if (era !== this.#era) return;
      const answer = this.#o.answer?.(due.about) ?? { text: `About ${due.about}.` };
      const said: { text: string; tool?: string } = due.exactly ? { text: due.about } : answer;
      const itemId = `item-${this.#responses}`;
      const sound = this.#o.voice?.(said.text) ?? Buffer.alloc(400 * bytesPerMs(this.gives));
      const half = Math.floor(sound.length / 4) * 2;
      this.#listener.text(itemId, said.text);
      this.#listener.audio(itemId, sound.subarray(0, half));
      this.#later(() => {
        if (era !== this.#era) return;
        this.#listener.audio(itemId, sound.subarray(half));
        this.#listener.textDone(itemId, said.text);
        this.#listener.audioDone(itemId);
        this.#end(said.tool);
      });
    });
  }

  #end(tool: string | undefined): void {
    const n = this.#responses++;
    if (tool !== undefined)
      this.#listener.toolCall({ toolCallId: `call-${n}`, name: tool, argumentsJson: '{}' });
    this.#due.shift();
    this.#speaking = false;
    this.#listener.responseDone({
      responseId: `response-${n}`,
      status: 'completed',
      reason: null,
      hadAudio: true,
      toolCalls: tool === undefined ? 0 : 1,
    });
    this.#speak();
  }

  #later(run: () => void): void {
    setImmediate(() => {
      if (!this.#over) run();
    });
  }
}
