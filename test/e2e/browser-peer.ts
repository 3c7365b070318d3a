// A page without a browser, for tests: signs in to the dashboard, opens a call and speaks its media protocol on a real
// socket, at the pace of a sound card. Written from the protocol, not from the page's own code.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { decodeMulaw, encodeMulaw } from '../../audio/g711.ts';
import { readWav } from '../../scripts/simulate/sound.ts';
import { type Rig, until } from './rig.ts';

const FRAME_BYTES = 160;
const FRAME_MS = 20;
const FIXTURES = join(import.meta.dirname, '../fixtures/audio');
const PASSWORD = 'a quiet line of bluebirds';

export interface OpenedCall {
  call_id: string;
  stream_path: string;
  token: string;
}

/** Somebody who is signed in to the dashboard. */
export interface Operator {
  /** Asks for a call; answers the status and the body. */
  ask(body: Record<string, unknown>): Promise<{ status: number; body: OpenedCall }>;
  /** A call, opened. @throws Error when it is refused */
  open(agentId: string, more?: Record<string, unknown>): Promise<OpenedCall>;
}

/** Signs in by the link that the daemon prints at its first start. */
export async function signIn({ lab }: Rig): Promise<Operator> {
  const token = await until('the link to the dashboard', () => {
    const line = lab.daemon.lines.find((one) => one.includes('/setup#'));
    return line === undefined ? null : line.slice(line.indexOf('#') + 1).trim();
  });
  const headers = () => ({ 'content-type': 'application/json', origin: lab.daemon.url });
  const answer = await fetch(`${lab.daemon.url}/dashboard/api/setup`, {
    method: 'POST',
    headers: headers(),
    body: JSON.stringify({ token, password: PASSWORD }),
  });
  const cookie = answer.headers.getSetCookie().map((line) => line.split(';')[0]);
  const { csrf_token } = (await answer.json()) as { csrf_token: string };
  const ask: Operator['ask'] = async (body) => {
    const response = await fetch(`${lab.daemon.url}/dashboard/api/browser_calls`, {
      method: 'POST',
      headers: { ...headers(), cookie: cookie.join('; '), 'offhook-csrf': csrf_token },
      body: JSON.stringify(body),
    });
    return { status: response.status, body: (await response.json()) as OpenedCall };
  };
  return {
    ask,
    async open(agentId, more = {}) {
      const { status, body } = await ask({ agent_id: agentId, ...more });
      if (status !== 201) throw new Error(`no call: ${status} ${JSON.stringify(body)}`);
      return body;
    },
  };
}

export interface Peer {
  readonly callId: string;
  /** What came out of the loudspeaker since the start, 8 kHz, silence included. */
  heard(): Float32Array;
  /** Milliseconds of the agent's voice that were played. */
  playedMs(): number;
  /** How often the daemon asked to play nothing more. */
  clears(): number;
  framesSent(): number;
  framesReceived(): number;
  /** Timestamps and numbers of what came were without a gap. */
  inOrder(): boolean;
  /** Speaks a recording; resolves when it is out. */
  say(file: string): Promise<void>;
  /** Resolves once so much of the agent's voice was played. */
  agentSpoke(ms: number): Promise<void>;
  send(message: Record<string, unknown>): void;
  stop(): void;
  /** Breaks the connection without a word. */
  vanish(): void;
  /** The code that the daemon closed with; 1006 when it broke. */
  readonly closed: Promise<number>;
}

/** Takes up a call's stream. */
export async function takeUp(url: string, call: OpenedCall): Promise<Peer> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}${call.stream_path}`, { origin: url });
  socket.binaryType = 'nodebuffer';
  const toSpeak: { frames: Buffer[]; done: () => void }[] = [];
  const speaker: Buffer[] = [];
  let waiting: { payload: Buffer; offset: number }[] = [];
  let marks: { name: string; at: number }[] = [];
  let [received, played, cleared, clears, framesSent, framesReceived] = [0, 0, 0, 0, 0, 0];
  let inOrder = true;
  let startedAt = 0;
  const now = () => performance.now() - startedAt;
  const send = (message: Record<string, unknown>) => {
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
  };

  function tell(): void {
    while (marks[0] !== undefined && marks[0].at <= played + cleared) {
      send({ type: 'mark', name: marks[0].name });
      marks.shift();
    }
  }

  function playFrame(): void {
    const out = Buffer.alloc(FRAME_BYTES, 0xff);
    let filled = 0;
    while (filled < FRAME_BYTES && waiting[0] !== undefined) {
      const { payload, offset } = waiting[0];
      const copied = payload.copy(out, filled, offset, offset + FRAME_BYTES - filled);
      filled += copied;
      waiting[0].offset += copied;
      if (waiting[0].offset === payload.length) waiting.shift();
    }
    played += filled;
    speaker.push(out);
    tell();
  }

  function sendFrame(): void {
    const [current] = toSpeak;
    const frame = current?.frames.shift() ?? Buffer.alloc(FRAME_BYTES, 0xff);
    const message = Buffer.alloc(8 + FRAME_BYTES);
    message.writeUInt32BE(framesSent * FRAME_MS, 0);
    message.writeUInt32BE(++framesSent, 4);
    frame.copy(message, 8);
    socket.send(message);
    if (current !== undefined && current.frames.length === 0) {
      toSpeak.shift();
      current.done();
    }
  }

  socket.on('message', (data: Buffer, isBinary) => {
    if (isBinary) {
      const payload = data.subarray(8);
      framesReceived++;
      if (data.readUInt32BE(0) !== received / 8 || data.readUInt32BE(4) !== framesReceived) inOrder = false;
      received += payload.length;
      waiting.push({ payload: Buffer.from(payload), offset: 0 });
      return;
    }
    const message = JSON.parse(data.toString()) as { type: string; name: string };
    if (message.type === 'mark') {
      marks.push({ name: message.name, at: received });
      tell();
    } else if (message.type === 'clear') {
      clears++;
      cleared += waiting.reduce((sum, { payload, offset }) => sum + payload.length - offset, 0);
      waiting = [];
      tell();
      marks = [];
    }
  });
  const closed = new Promise<number>((resolve) => socket.on('close', resolve));
  await new Promise<void>((open, failed) => {
    socket.on('open', () => open());
    socket.on('error', failed);
  });
  send({ type: 'start', version: 1, call_id: call.call_id, token: call.token });
  startedAt = performance.now();
  const timer = setInterval(() => {
    // What a late timer owes goes out at once, as a sound card's driver does it.
    while (speaker.length * FRAME_MS <= now()) {
      if (socket.readyState === WebSocket.OPEN) sendFrame();
      playFrame();
    }
  }, 10);
  void closed.then(() => clearInterval(timer));

  return {
    callId: call.call_id,
    heard() {
      const pcm = new Int16Array(speaker.length * FRAME_BYTES);
      decodeMulaw(Buffer.concat(speaker), pcm);
      return Float32Array.from(pcm);
    },
    playedMs: () => played / 8,
    clears: () => clears,
    framesSent: () => framesSent,
    framesReceived: () => framesReceived,
    inOrder: () => inOrder,
    say: (file) =>
      new Promise((done) => {
        const pcm = Int16Array.from(readWav(readFileSync(join(FIXTURES, file))).channels[0] ?? []);
        const padded = new Int16Array(Math.ceil(pcm.length / FRAME_BYTES) * FRAME_BYTES);
        padded.set(pcm);
        const bytes = Buffer.alloc(padded.length);
        encodeMulaw(padded, bytes);
        const frames: Buffer[] = [];
        for (let at = 0; at < bytes.length; at += FRAME_BYTES)
          frames.push(bytes.subarray(at, at + FRAME_BYTES));
        toSpeak.push({ frames, done });
      }),
    async agentSpoke(ms) {
      await until(`${ms} ms of the agent`, () => played / 8 >= ms, 30_000);
    },
    send,
    stop() {
      send({ type: 'stop' });
      socket.close(1000);
    },
    vanish: () => socket.terminate(),
    closed,
  };
}
