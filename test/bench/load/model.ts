// The bench's speech model, a process of its own: a Realtime peer that answers for three seconds in bursts of 100-200 ms deltas.
// Where a session keeps turn detection at the server it knows from the caller's tags when somebody speaks. It listens twice: plain,
// and with TLS by the key and the certificate that it is started with.
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer, type Server as SecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import type { ModelOrder, ModelReport, TurnsReport } from './orders.ts';
import { clockMs, median, Samples } from './samples.ts';
import { findTag, readTag, TAG_BYTES, writeTag } from './tag.ts';
import { createAnswer, createTrack, FRAME_BYTES } from './track.ts';

const THINKING_MS = 150;
const TRANSCRIBING_MS = 300;
/** What a server's own detector takes to be sure, in frames. */
const ONSET_FRAMES = 10;
const END_FRAMES = 25;
const TICK_MS = 2;
/** A burst of two, then two and a half times as fast as it is spoken. */
const DELTA_BYTES = [1_600, 800, 1_200];
const FASTER = 2.5;
/** Of a short answer. */
const SHORT_DELTAS = 2;
const WORDS =
  ' the quick brown fox jumps over the lazy dog and runs on through the field until it is home again'.split(
    /(?= )/,
  );

const track = createTrack();
const answer = createAnswer();
const onsets = new Set(track.utterances.map((one) => one.from + ONSET_FRAMES));
const ends = new Set(track.utterances.map((one) => (one.to + END_FRAMES) % track.frames));

interface Delta {
  base64: string;
  atMs: number;
}
const deltas: Delta[] = [];
for (let at = 0, number = 0; at < answer.length; number++) {
  const bytes = DELTA_BYTES[number % DELTA_BYTES.length]!;
  deltas.push({
    base64: answer.toString('base64', at, Math.min(answer.length, at + bytes)),
    atMs: number < 2 ? 0 : at / 8 / FASTER,
  });
  at += bytes;
}
const firstDelta = Buffer.from(answer.subarray(0, DELTA_BYTES[0]));

interface Speaking {
  id: string;
  item: string;
  beganMs: number;
  next: number;
  /** Deltas of this answer. */
  deltas: number;
  metadata: unknown;
}

interface Session {
  socket: WebSocket;
  serverDetects: boolean;
  call: number;
  /** Bytes of the stream until the next frame begins; NaN: not found yet. */
  untilFrame: number;
  carry: Buffer;
  fresh: boolean;
  lastSequence: number;
  /** Of the last append's frames, the oldest first; not yet counted. */
  ages: number[];
  speaking: Speaking | null;
  greeting: { askedAtMs: number; firstDeltaAtMs: number };
  items: number;
  turns: number;
}

const sessions = new Set<Session>();
const newestFrame = new Samples();
const everyFrame = new Samples();
const heldFrame = new Samples();
const lateTicks = new Samples();
let measuring = false;
let hurrying = false;
let appends = 0;
let frames = 0;
let lostFrames = 0;
let answers = 0;
let speechStarts: ModelReport['speechStarts'] = [];
const unknown = new Set<string>();
let serial = 0;
const decoded = Buffer.alloc(65_536);

const APPEND = Buffer.from('{"type":"input_audio_buffer.append","audio":"');

function listen(session: Session, data: Buffer): void {
  // Any layout: the audio's key may come after others.
  const key = data.indexOf('"audio":"');
  const end = data.indexOf(0x22, key + 9);
  const length = decoded.write(data.toString('latin1', key + 9, end), 'base64');
  const now = clockMs();
  if (measuring) appends++;
  const first = session.fresh;
  session.fresh = false;
  let sound: Buffer = decoded.subarray(0, length);
  if (session.carry.length > 0) sound = Buffer.concat([session.carry, sound]);
  let at = Number.isNaN(session.untilFrame) ? findTag(sound) : session.untilFrame;
  // No commit has followed the one before: it is counted.
  count(session);
  while (at >= 0 && at + TAG_BYTES <= sound.length) {
    const tag = readTag(sound, at, now);
    if (tag === null) {
      // Silence that the bridge put in, or a stretch that was cut: look for the next one.
      const next = findTag(sound.subarray(at + 1));
      if (next < 0) {
        at = -1;
        break;
      }
      at += 1 + next;
      continue;
    }
    session.call = tag.call;
    if (measuring) {
      frames++;
      session.ages.push(now - tag.atMs);
      const missing = tag.sequence - session.lastSequence - 1;
      if (!Number.isNaN(missing) && missing > 0) lostFrames += missing;
    }
    session.lastSequence = tag.sequence;
    if (session.serverDetects) detect(session, tag.sequence % track.frames, now);
    at += FRAME_BYTES;
  }
  if (at < 0) {
    session.untilFrame = Number.NaN;
    session.carry = Buffer.from(sound.subarray(Math.max(0, sound.length - TAG_BYTES)));
    session.lastSequence = Number.NaN;
  } else if (at >= sound.length) {
    session.untilFrame = at - sound.length;
    session.carry = Buffer.alloc(0);
  } else {
    session.untilFrame = 0;
    session.carry = Buffer.from(sound.subarray(at));
  }
  // The first append of a turn carries what was spoken before the turn was known; the last one, which a commit follows, what
  // was waiting when the turn was decided.
  if (first) hold(session);
}

function count(session: Session): void {
  const newest = session.ages.at(-1);
  if (newest === undefined) return;
  newestFrame.push(newest);
  for (const age of session.ages) everyFrame.push(age);
  session.ages.length = 0;
}

/** The last append's frames were late by design. */
function hold(session: Session): void {
  for (const age of session.ages) heldFrame.push(age);
  session.ages.length = 0;
}

function detect(session: Session, frame: number, now: number): void {
  if (onsets.has(frame)) {
    say(session, { type: 'input_audio_buffer.speech_started', audio_start_ms: 0, item_id: itemId(session) });
    if (measuring) speechStarts.push({ call: session.call, atMs: now });
    if (session.speaking !== null) finish(session, 'cancelled');
  } else if (ends.has(frame)) {
    say(session, { type: 'input_audio_buffer.speech_stopped', audio_end_ms: 0, item_id: itemId(session) });
    commit(session);
    begin(session, null);
  }
}

const itemId = (session: Session) => `item_${session.items}`;
const say = (session: Session, event: Record<string, unknown>) => {
  if (session.socket.readyState === session.socket.OPEN)
    session.socket.send(JSON.stringify({ event_id: `event_${++serial}`, ...event }));
};

function commit(session: Session): void {
  const item = itemId(session);
  session.items++;
  session.turns++;
  say(session, { type: 'input_audio_buffer.committed', previous_item_id: null, item_id: item });
  const content = [{ type: 'input_audio', transcript: null }];
  say(session, {
    type: 'conversation.item.added',
    previous_item_id: null,
    item: { id: item, type: 'message', role: 'user', status: 'completed', content },
  });
  setTimeout(() => {
    say(session, {
      type: 'conversation.item.input_audio_transcription.completed',
      item_id: item,
      content_index: 0,
      transcript: 'I would like to know more about this, please.',
      usage: { type: 'duration', seconds: 2 },
    });
  }, TRANSCRIBING_MS);
}

function begin(session: Session, metadata: unknown): void {
  if (session.speaking !== null) finish(session, 'cancelled');
  const now = clockMs();
  if (Number.isNaN(session.greeting.askedAtMs)) session.greeting.askedAtMs = now;
  if (measuring) answers++;
  const id = `resp_${++serial}`;
  const item = `item_a${serial}`;
  session.speaking = {
    id,
    item,
    beganMs: now + THINKING_MS,
    next: 0,
    deltas: hurrying ? SHORT_DELTAS : deltas.length,
    metadata,
  };
  say(session, {
    type: 'response.created',
    response: { id, object: 'realtime.response', status: 'in_progress', output: [], metadata },
  });
  const shown = {
    id: item,
    object: 'realtime.item',
    type: 'message',
    status: 'in_progress',
    role: 'assistant',
    content: [],
  };
  say(session, { type: 'response.output_item.added', response_id: id, output_index: 0, item: shown });
  say(session, { type: 'conversation.item.added', previous_item_id: null, item: shown });
}

function finish(session: Session, status: 'completed' | 'cancelled'): void {
  const speaking = session.speaking;
  if (speaking === null) return;
  session.speaking = null;
  const { id, item, metadata } = speaking;
  const of = { response_id: id, item_id: item, output_index: 0, content_index: 0 };
  const transcript = WORDS.join('').trim();
  say(session, { type: 'response.output_audio.done', ...of });
  say(session, { type: 'response.output_audio_transcript.done', ...of, transcript });
  const shown = {
    id: item,
    type: 'message',
    status: status === 'completed' ? 'completed' : 'incomplete',
    role: 'assistant',
    content: [{ type: 'output_audio', transcript }],
  };
  say(session, { type: 'response.output_item.done', response_id: id, output_index: 0, item: shown });
  const usage = {
    total_tokens: 100,
    input_tokens: 50,
    output_tokens: 50,
    input_token_details: { text_tokens: 30, audio_tokens: 20, cached_tokens: 0 },
    output_token_details: { text_tokens: 20, audio_tokens: 30 },
  };
  const response = { id, object: 'realtime.response', status, output: [shown], usage, metadata };
  say(session, { type: 'response.done', response });
}

function speak(session: Session, now: number): void {
  const speaking = session.speaking;
  if (speaking === null) return;
  const { id, item, beganMs } = speaking;
  while (speaking.next < speaking.deltas) {
    const delta = deltas[speaking.next]!;
    if (beganMs + delta.atMs > now) return;
    let { base64 } = delta;
    if (speaking.next === 0) {
      const at = clockMs();
      if (Number.isNaN(session.greeting.firstDeltaAtMs)) session.greeting.firstDeltaAtMs = at;
      writeTag(firstDelta, 0, Math.max(0, session.call), serial & 0x3f_ffff, at);
      base64 = firstDelta.toString('base64');
    }
    const word = WORDS[speaking.next];
    speaking.next++;
    const of = `"response_id":"${id}","item_id":"${item}","output_index":0,"content_index":0`;
    session.socket.send(
      `{"type":"response.output_audio.delta","event_id":"event_${++serial}",${of},"delta":"${base64}"}`,
    );
    if (word !== undefined)
      session.socket.send(
        `{"type":"response.output_audio_transcript.delta","event_id":"event_${++serial}",${of},"delta":"${word}"}`,
      );
  }
  finish(session, 'completed');
}

function hear(session: Session, data: Buffer): void {
  if (
    (data.length > APPEND.length && data.compare(APPEND, 0, APPEND.length, 0, APPEND.length) === 0) ||
    data.includes('"input_audio_buffer.append"')
  ) {
    listen(session, data);
    return;
  }
  const event = JSON.parse(data.toString()) as { type: string } & Record<string, unknown>;
  const forget = () => {
    session.fresh = true;
    session.untilFrame = Number.NaN;
    session.carry = Buffer.alloc(0);
    session.lastSequence = Number.NaN;
  };
  switch (event.type) {
    case 'session.update': {
      const asked = event.session as {
        audio?: { input?: { turn_detection?: unknown } };
        turn_detection?: unknown;
      };
      session.serverDetects = asked.audio?.input?.turn_detection !== null;
      say(session, { type: 'session.updated', session: asked });
      return;
    }
    case 'input_audio_buffer.commit':
      hold(session);
      forget();
      commit(session);
      break;
    case 'input_audio_buffer.clear':
      session.ages.length = 0;
      forget();
      say(session, { type: 'input_audio_buffer.cleared' });
      break;
    case 'response.create':
      begin(session, (event.response as { metadata?: unknown } | undefined)?.metadata ?? null);
      break;
    case 'response.cancel':
      finish(session, 'cancelled');
      break;
    case 'conversation.item.truncate':
      say(session, { ...event, type: 'conversation.item.truncated' });
      break;
    case 'conversation.item.delete':
      say(session, { type: 'conversation.item.deleted', item_id: event.item_id });
      break;
    case 'conversation.item.create':
      say(session, { type: 'conversation.item.added', previous_item_id: null, item: event.item });
      break;
    default:
      unknown.add(event.type);
  }
}

function greet(socket: WebSocket): void {
  const session: Session = {
    socket,
    serverDetects: false,
    call: -1,
    untilFrame: Number.NaN,
    carry: Buffer.alloc(0),
    fresh: true,
    lastSequence: Number.NaN,
    ages: [],
    speaking: null,
    greeting: { askedAtMs: Number.NaN, firstDeltaAtMs: Number.NaN },
    items: 1,
    turns: 0,
  };
  sessions.add(session);
  socket.on('message', (data) => hear(session, data as Buffer));
  socket.on('error', () => {});
  socket.on('close', () => sessions.delete(session));
  say(session, {
    type: 'session.created',
    session: { type: 'realtime', object: 'realtime.session', id: `sess_${++serial}`, model: 'bench' },
  });
}

const refuse: RequestListener = (_request, response) => void response.writeHead(404).end();

/** The port on which sessions are taken. */
function takeSessions(server: Server | SecureServer): Promise<number> {
  const sockets = new WebSocketServer({
    server,
    perMessageDeflate: false,
    skipUTF8Validation: true,
    allowSynchronousEvents: true,
  });
  sockets.on('connection', greet);
  return new Promise((done) => {
    server.listen(0, '127.0.0.1', () => done((server.address() as AddressInfo).port));
  });
}

let tickedAtMs = clockMs();
setInterval(() => {
  const now = clockMs();
  if (measuring) lateTicks.push(Math.max(0, now - tickedAtMs - TICK_MS));
  tickedAtMs = now;
  for (const session of sessions) if (session.speaking !== null) speak(session, now);
}, TICK_MS);

process.on('message', (order: ModelOrder) => {
  if (order.do === 'close') {
    for (const { socket } of sessions) socket.terminate();
    hurrying = false;
    process.send?.({ closed: true });
    return;
  }
  if (order.do === 'hurry') {
    hurrying = order.on;
    return;
  }
  const turns = median([...sessions].map((session) => session.turns));
  if (order.do === 'turns') {
    const answer: TurnsReport = { middle: turns };
    process.send?.(answer);
    return;
  }
  measuring = order.do === 'begin';
  if (measuring) {
    for (const samples of [newestFrame, everyFrame, heldFrame, lateTicks]) samples.clear();
    for (const session of sessions) session.ages.length = 0;
    appends = 0;
    frames = 0;
    lostFrames = 0;
    answers = 0;
    speechStarts = [];
    return;
  }
  const report: ModelReport = {
    sessions: sessions.size,
    appends,
    frames,
    lostFrames,
    answers,
    turns,
    newestFrame: newestFrame.summary(),
    everyFrame: everyFrame.summary(),
    heldFrame: heldFrame.summary(),
    lateTicks: lateTicks.summary(),
    speechStarts,
    greetings: [...sessions].map(({ call, greeting }) => ({ call, ...greeting })),
    unknown: [...unknown],
  };
  process.send?.(report);
});
process.on('disconnect', () => process.exit(0));
const [, , keyPath = '', certificatePath = ''] = process.argv;
const listening = await takeSessions(createServer(refuse));
const proof = { key: readFileSync(keyPath), cert: readFileSync(certificatePath) };
const listeningSecure = await takeSessions(createSecureServer(proof, refuse));
process.send?.({ listening, listeningSecure });
