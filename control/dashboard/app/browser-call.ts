// A call from the page: asks for the microphone, opens the call and its media socket, and speaks the protocol that
// bridge/carriers/browser/wire.ts describes. Sound is call-line.ts; what the person sees is the page's affair.
import { BrowserCallError, type Line, openLine, openMicrophone } from './call-line.ts';
import { FRAME_BYTES, FRAME_MS } from './call-sound.ts';

export type BrowserCallState =
  /** The browser asks the person for the microphone. */
  | { at: 'asking' }
  | { at: 'connecting' }
  /** `problem`: what is wrong though the call goes on, in words for the person. */
  | { at: 'talking'; problem: string | null }
  /**
   * `hung_up`: by this side. `other_side`: by the agent, or in the daemon. `lost`: the connection broke. `refused`: the
   * daemon did not take the stream. `message`: in words for the person; null when there is nothing to say.
   */
  | { at: 'ended'; why: 'hung_up' | 'other_side' | 'lost' | 'refused'; message: string | null };

export interface BrowserCallOptions {
  /** Has the daemon make the call: the answer of POST /dashboard/api/browser_calls. Asked once the microphone is there. */
  open(): Promise<{ call_id: string; stream_path: string; token: string }>;
  /** False: the person types, and hears the agent all the same where the browser makes sound. */
  microphone: boolean;
  /** Told of every change, `ended` last and once. Not told of a start that fails: that is the promise's rejection. */
  onState(state: BrowserCallState): void;
  /** For a meter, some twenty times a second: loudness of both sides, 0 to 1. Never told by a line without sound. */
  onLevel(level: { microphone: number; agent: number }): void;
  /** The agent's voice as it comes, mu-law at 8 kHz; before it is played. */
  onVoice?(payload: Uint8Array): void;
}

export interface BrowserCall {
  readonly callId: string;
  /** Sends silence in place of the microphone. */
  mute(on: boolean): void;
  /** Words for the agent, as a turn of the caller's. */
  type(text: string): void;
  /** A key of the phone: 0-9, * or #. */
  press(digit: string): void;
  /** Ends the call. Resolves when socket, microphone and sound are closed; safe to call twice. */
  hangUp(): Promise<void>;
}

const CONNECT_MS = 10_000;
const HEADER_BYTES = 8;
/** Two seconds that the network has not taken: what is spoken now would come too late, and is left out. */
const MOST_WAITING_BYTES = 100 * (FRAME_BYTES + HEADER_BYTES);
/** The daemon's answer to the closing of the socket is not waited for longer. */
const CLOSE_MS = 1_000;
const REFUSED = 1008;

/**
 * Starts a call, from a click: browsers let a page make sound only then.
 * @throws BrowserCallError with a message for the person; whatever `open` rejects with
 */
export async function startBrowserCall(o: BrowserCallOptions): Promise<BrowserCall> {
  if (o.microphone) o.onState({ at: 'asking' });
  const microphone = o.microphone ? await openMicrophone() : null;
  let line: Line | null = null;
  let socket: WebSocket | null = null;
  /** Pieces of 20 ms since the start, sent or left out: the place of the next one. */
  let pieces = 0;
  let ended = false;
  let leaving = false;

  const isOpen = () => socket?.readyState === WebSocket.OPEN;
  const tell = (message: Record<string, unknown>) => {
    if (isOpen()) socket?.send(JSON.stringify(message));
  };

  function sendFrame(payload: Uint8Array): void {
    if (socket === null || !isOpen()) return;
    const place = pieces++;
    if (socket.bufferedAmount > MOST_WAITING_BYTES) return;
    const message = new Uint8Array(HEADER_BYTES + payload.length);
    const header = new DataView(message.buffer);
    header.setUint32(0, place * FRAME_MS);
    header.setUint32(4, place + 1);
    message.set(payload, HEADER_BYTES);
    socket.send(message);
  }

  async function closeAll(): Promise<void> {
    removeEventListener('pagehide', leave);
    for (const track of microphone?.getTracks() ?? []) track.stop();
    await line?.close();
  }

  function end(state: Extract<BrowserCallState, { at: 'ended' }>): void {
    if (ended) return;
    ended = true;
    void closeAll();
    o.onState(state);
  }

  function leave(): void {
    leaving = true;
    tell({ type: 'stop' });
    socket?.close(1000);
  }

  function receive(data: unknown): void {
    if (data instanceof ArrayBuffer) {
      const payload = new Uint8Array(data, HEADER_BYTES);
      o.onVoice?.(payload);
      line?.play(payload);
      return;
    }
    const message = JSON.parse(String(data)) as { type: string; name?: string };
    if (message.type === 'mark') line?.mark(message.name ?? '');
    else if (message.type === 'clear') line?.clear();
  }

  try {
    // Sound first: the daemon awaits the stream of a call for some seconds only.
    line = await openLine(microphone, {
      frame: sendFrame,
      played: (name) => tell({ type: 'mark', name }),
      level: o.onLevel,
      microphoneLost() {
        if (!ended)
          o.onState({ at: 'talking', problem: 'The microphone was taken away: you are not heard any more.' });
      },
    });
    o.onState({ at: 'connecting' });
    const { call_id, stream_path, token } = await o.open();
    socket = await connect(stream_path);
    socket.addEventListener('message', ({ data }) => receive(data));
    socket.addEventListener('close', ({ code }) => end(endOf(code, leaving)));
    addEventListener('pagehide', leave);
    tell({ type: 'start', version: 1, call_id, token });
    o.onState({ at: 'talking', problem: null });
    return {
      callId: call_id,
      mute: (on) => line?.mute(on),
      type: (text) => tell({ type: 'text', text }),
      press: (digit) => tell({ type: 'digit', digit }),
      async hangUp() {
        if (!ended) {
          const closed = new Promise<void>((done) => socket?.addEventListener('close', () => done()));
          leave();
          await Promise.race([closed, new Promise((late) => setTimeout(late, CLOSE_MS))]);
          end({ at: 'ended', why: 'hung_up', message: null });
        }
        await closeAll();
      },
    };
  } catch (error) {
    ended = true;
    socket?.close();
    await closeAll();
    throw error;
  }
}

function endOf(code: number, leaving: boolean): Extract<BrowserCallState, { at: 'ended' }> {
  if (leaving) return { at: 'ended', why: 'hung_up', message: null };
  if (code === 1000) return { at: 'ended', why: 'other_side', message: null };
  if (code === REFUSED)
    return { at: 'ended', why: 'refused', message: 'The call had ended before it was connected. Try again.' };
  return {
    at: 'ended',
    why: 'lost',
    message: 'The connection to the daemon broke, and with it the call. Check the network and try again.',
  };
}

/** Opens the media socket. @throws BrowserCallError connection_failed */
function connect(path: string): Promise<WebSocket> {
  const url = new URL(path, location.href);
  url.protocol = url.protocol.replace('http', 'ws');
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url);
    socket.binaryType = 'arraybuffer';
    const fail = () => {
      clearTimeout(timer);
      socket.close();
      reject(
        new BrowserCallError(
          'connection_failed',
          'The call could not be connected: the daemon did not take its audio. If a proxy stands before it, see that it passes websockets of /media/ on.',
        ),
      );
    };
    const timer = setTimeout(fail, CONNECT_MS);
    socket.addEventListener('error', fail, { once: true });
    socket.addEventListener('open', () => {
      clearTimeout(timer);
      socket.removeEventListener('error', fail);
      resolve(socket);
    });
  });
}
