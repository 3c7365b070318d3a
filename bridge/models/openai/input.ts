// The caller's side of a session: the sound given to the server, the turns it becomes, and their words.
import { bytesPerMs } from '../../../audio/format.ts';
import { CallerTurns } from '../caller-turns.ts';
import type { ModelConfig, ModelListener } from '../model.ts';
import { clearAudio, commitAudio, createItem, PREFIX_PADDING_MS } from './client-events.ts';
import type { Conversation } from './conversation.ts';
import type { Deletions } from './deletions.ts';
import { formatFor } from './formats.ts';
import type { Link } from './link.ts';
import type { ModelEvent } from './server-events.ts';

/** Five frames per append: a fifth of the messages. Nobody waits for them: a commit sends the rest at once. */
const APPEND_MS = 100;
/** Where the server listens for turns it is not kept waiting. */
const APPEND_AT_ONCE_MS = 40;
/** Audio that the network has not taken, and what base64 in JSON makes of a byte. */
const BACKLOG_LIMIT_MS = 10_000;
const WIRE_BYTES = 1.375;
/** Where the server tells the turns: what is kept of the sound between them, for a session that takes over. */
const SILENCE_KEPT_MS = 1_000;
/** A renewal waits so long for the words of the caller's last turn, then tells its audio again. */
const WORDS_WAIT_MS = 10_000;

type ServerEvent<T extends ModelEvent['type']> = Extract<ModelEvent, { type: T }>;

export interface CallerInputOptions {
  config: ModelConfig;
  link: Link;
  conversation: Conversation;
  deletions: Deletions;
  listener: ModelListener;
  now: () => number;
  /** Something that a move to another session waits for may be over. */
  settled: () => void;
  /** The session in force is of no use. */
  drop: (why: string) => void;
}

export class CallerInput {
  readonly #o: CallerInputOptions;
  readonly #bytesPerMs: number;
  readonly #turns: CallerTurns;
  /** The server tells the turns: it is given all sound, and commits by itself. */
  readonly #serverTells: boolean;
  #callerSpeaks = false;
  /** Items that the server has committed and no turn has asked for yet. */
  #committedItems: string[] = [];
  /** Milliseconds given to the session in force. */
  #givenMs = 0;
  #wasOnline = false;
  #droppedBytes = 0;
  #lastTurnAt = 0;
  /** Turns that were taken back before the server had acknowledged them. */
  readonly #unwanted = new Set<number>();
  /** Items of turns that were taken back: they may be written down all the same. */
  readonly #takenBack = new Set<string>();

  constructor(o: CallerInputOptions) {
    this.#o = o;
    this.#bytesPerMs = bytesPerMs(formatFor(o.config.line));
    this.#turns = new CallerTurns(this.#bytesPerMs);
    this.#serverTells = (o.config.turnDetection ?? 'local') !== 'local';
  }

  /** Sound that came before a session was there to take it. */
  get droppedBytes(): number {
    return this.#droppedBytes;
  }

  append(payload: Buffer): void {
    if (this.#o.link.over || !this.#wasOnline) {
      this.#droppedBytes += payload.length;
      return;
    }
    this.#turns.append(payload);
    this.#give(this.#serverTells ? APPEND_AT_ONCE_MS : APPEND_MS);
    if (this.#serverTells && !this.#callerSpeaks) this.#turns.keep(SILENCE_KEPT_MS);
  }

  clear(): void {
    const { link, settled } = this.#o;
    if (this.#turns.clear()) link.send(clearAudio(link.eventId('clear')));
    this.#o.conversation.closeTurn();
    link.soon(settled);
  }

  endTurn(mayGoOn: boolean): number | null {
    this.#give(0);
    const committed = this.#turns.commit();
    if (committed === null) return null;
    this.#lastTurnAt = this.#o.now();
    this.#o.conversation.caller(committed.turn, committed.audio, mayGoOn);
    if (this.#serverTells) {
      this.#turns.sent(committed.turn);
      const itemId = this.#committedItems.shift();
      if (itemId !== undefined) this.#turns.acknowledged(itemId);
    } else if (this.#o.link.online) this.#commit(committed.turn);
    return committed.turn;
  }

  /** The turn that was ended last was not over: its item goes, and its sound is given again with what came since. */
  reopen(turn: number): void {
    const { link, conversation } = this.#o;
    const audio = conversation.reopenTurn(turn);
    if (audio === null) return;
    const itemId = this.#turns.reopen(turn, audio);
    if (itemId === null) this.#unwanted.add(turn);
    else this.#remove(itemId);
    link.send(clearAudio(link.eventId('clear')));
    this.#give(0);
  }

  /** Nobody speaks, and no words are worth waiting for: another session can take over. */
  between(): boolean {
    const open = this.#serverTells ? this.#callerSpeaks : this.#turns.openMs() > 0;
    return !open && (!this.#turns.unsettled() || this.#o.now() - this.#lastTurnAt > WORDS_WAIT_MS);
  }

  /** Another session is in force: it knows nothing, and hears him begin again. */
  restart(): void {
    this.#wasOnline = true;
    this.#turns.restart();
    this.#givenMs = 0;
    this.#committedItems = [];
    this.#callerSpeaks = false;
    this.#unwanted.clear();
    this.#takenBack.clear();
  }

  /** Tells the session in force a turn of the one before, whose words are not known. */
  tellAgain(turn: number, audio: Buffer): void {
    const { link, conversation } = this.#o;
    if (!this.#serverTells) {
      link.append(audio);
      this.#commit(turn);
      return;
    }
    // It would take the sound for the caller's voice of now.
    const said = { kind: 'text', id: null, role: 'user', text: this.#o.config.texts.unintelligible } as const;
    link.send(createItem(link.eventId('seed'), said));
    conversation.callerText(turn, null);
    link.soon(() => this.#settle(turn, null));
  }

  /** What the session in force was not given of the open turn. */
  catchUp(): void {
    this.#give(0);
  }

  onSpeech(event: ServerEvent<'speech-started' | 'speech-stopped'>): void {
    if (!this.#serverTells) return;
    const started = event.type === 'speech-started';
    this.#callerSpeaks = started;
    const paddedMs = started && this.#o.config.turnDetection === 'server_vad' ? PREFIX_PADDING_MS : 0;
    const agoMs = Math.max(0, this.#givenMs - event.atMs - paddedMs);
    if (started) this.#committedItems = [];
    this.#o.listener.callerSpeech(started ? 'started' : 'stopped', agoMs);
  }

  onCommitted(itemId: string): void {
    const turn = this.#turns.acknowledged(itemId);
    if (turn !== null && this.#unwanted.delete(turn)) {
      this.#remove(itemId);
      return;
    }
    if (turn === null && this.#serverTells) this.#committedItems.push(itemId);
    if (turn !== null && this.#o.config.transcriptionModel === null) this.#settle(turn, null);
  }

  /** The server found nothing in a commit: the one named, or the oldest. */
  onCommitRefused(eventId: string | null): void {
    const named = /^commit_(\d+)$/.exec(eventId ?? '');
    const turn = this.#turns.refused(named ? Number(named[1]) : null);
    if (turn === null || this.#unwanted.delete(turn)) return;
    this.#o.conversation.dropCaller(turn);
    this.#settle(turn, null);
  }

  onTranscript(event: ServerEvent<'transcript'>): void {
    if (this.#takenBack.delete(event.itemId)) {
      if (Object.keys(event.usage).length > 0) this.#o.listener.usage(event.usage, 'words');
      return;
    }
    const turn = this.#turns.turnOf(event.itemId);
    if (turn === null) return;
    // Of a repeated event nothing is counted twice.
    if (this.#turns.unsettled(turn) && Object.keys(event.usage).length > 0)
      this.#o.listener.usage(event.usage, 'words');
    if (this.#o.link.over) return;
    const text = event.text?.trim() === '' ? '' : event.text;
    this.#o.conversation.callerText(turn, text || null);
    this.#settle(turn, text);
  }

  #remove(itemId: string): void {
    const { link, deletions } = this.#o;
    this.#takenBack.add(itemId);
    link.send(deletions.ask(itemId));
  }

  #settle(turn: number, text: string | null): void {
    if (this.#turns.settle(turn)) this.#o.listener.callerText(turn, text);
    if (!this.#o.link.over) this.#o.settled();
  }

  #give(leastMs: number): void {
    const { link } = this.#o;
    const stretch = link.online ? this.#turns.unsent(leastMs) : null;
    if (stretch === null) return;
    link.append(stretch);
    this.#givenMs += stretch.length / this.#bytesPerMs;
    if (link.backlogBytes() > BACKLOG_LIMIT_MS * this.#bytesPerMs * WIRE_BYTES)
      link.soon(() => this.#o.drop('the model server does not take the audio'));
  }

  #commit(turn: number): void {
    this.#turns.sent(turn);
    this.#o.link.send(commitAudio(`commit_${turn}`));
  }
}
