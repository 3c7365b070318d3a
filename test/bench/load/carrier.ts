// The bench's carrier, a process of its own: Twilio's REST and signed hooks as far as a call needs them, and phone lines that
// send real speech every 20 ms and play what they are given, marks echoed when their sound was played, until a clear.
import { createServer, type IncomingMessage } from 'node:http';
import { sign } from '../../../scripts/carrier-simulator/signature.ts';
import { type MediaClient, openMediaClient } from './media-client.ts';
import type { CarrierOrder, CarrierReport } from './orders.ts';
import { clockMs, Samples } from './samples.ts';
import { readTag, TAG_BYTES, writeTag } from './tag.ts';
import { ANSWER_BYTES, beginsAt, createShortTurns, createTrack, FRAME_BYTES, FRAME_MS } from './track.ts';

/** Lines are independent: each sends at its own moment of the 20 ms, whatever their number (the golden ratio spreads them). */
const SPREAD = 0.6180339887;
/** Between two frames the thread sleeps this long at most before it reads what has come. */
const NAP_MS = 0.3;
/** A barge-in that is not noticed by then was missed. */
const REACTION_LIMIT_MS = 2_000;

const track = createTrack();
const shortTurns = createShortTurns();
/** What the callers say now. */
let said = track;
const bargeIns = new Set(track.utterances.filter((one) => one.bargesIn).map((one) => one.from));
const lines: Line[] = [];
/** Lines in the order of their moments. */
let moments: Line[] = [];
const scratch = Buffer.alloc(FRAME_BYTES);
const heard = Buffer.alloc(FRAME_BYTES);
let measuring = false;
let failures: string[] = [];
let sentFrames = 0;
let receivedMessages = 0;
const lateSends = new Samples();
let shortAnswers = 0;
let wholeAnswers = 0;
let missedBargeIns = 0;
const firstAudio = new Samples();
const lateness = new Samples();
const reaction = new Samples();
const audibleReaction = new Samples();
let clears: { call: number; atMs: number }[] = [];
let starts: { call: number; startedAtMs: number; firstMediaAtMs: number }[] = [];

interface Line {
  index: number;
  streamSid: string;
  /** When in the 20 ms it sends. */
  momentMs: number;
  client: MediaClient | null;
  /** Where it is in the loop; counts on. */
  sequence: number;
  chunk: number;
  message: number;
  /** All audio received so far has been played by then. */
  playedUntilMs: number;
  marks: { name: string; dueMs: number }[];
  answerBytes: number;
  answerMeasured: boolean;
  bargedInAtMs: number;
  startedAtMs: number;
  firstMediaAtMs: number;
}

function newLine(index: number): Line {
  const line: Line = {
    index,
    streamSid: `MZ${String(index).padStart(32, '0')}`,
    momentMs: ((index * SPREAD) % 1) * FRAME_MS,
    client: null,
    sequence: beginsAt(index, track),
    chunk: 0,
    message: 1,
    playedUntilMs: 0,
    marks: [],
    answerBytes: 0,
    answerMeasured: false,
    bargedInAtMs: Number.NaN,
    startedAtMs: Number.NaN,
    firstMediaAtMs: Number.NaN,
  };
  lines[index] = line;
  return line;
}

function connectLine(
  line: Line,
  o: { url: string; port: number; token: string | null; callSid: string },
): void {
  const headers: Record<string, string> =
    o.token === null ? {} : { 'X-Twilio-Signature': sign(secret, o.url.replace(/\?.*/, ''), {}) };
  const client = openMediaClient(
    { port: o.port, url: o.url, headers },
    {
      open() {
        line.client = client;
        client.send('{"event":"connected","protocol":"Call","version":"1.0.0"}');
        const mediaFormat = { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 };
        const customParameters = o.token === null ? {} : parameters.get(line.index);
        const start = {
          accountSid,
          streamSid: line.streamSid,
          callSid: o.callSid,
          tracks: ['inbound'],
          mediaFormat,
          customParameters,
        };
        line.startedAtMs = clockMs();
        client.send(
          JSON.stringify({ event: 'start', sequenceNumber: '1', start, streamSid: line.streamSid }),
        );
        join(line);
      },
      message: (data) => receive(line, data),
      closed(why) {
        line.client = null;
        if (!closing) failures.push(`line ${line.index}: ${why}`);
      },
    },
  );
}

// ---- what the line hears ----

function receive(line: Line, data: Buffer): void {
  const now = clockMs();
  receivedMessages++;
  const head = data.toString('latin1', 0, Math.min(data.length, 160));
  if (head.includes('"event":"media"')) {
    const payload = data.indexOf('"payload":"') + 11;
    const end = data.indexOf(0x22, payload);
    const padding = data[end - 1] !== 0x3d ? 0 : data[end - 2] === 0x3d ? 2 : 1;
    const bytes = ((end - payload) / 4) * 3 - padding;
    heard.write(data.toString('latin1', payload, Math.min(end, payload + 216)), 'base64');
    audio(line, bytes, bytes < TAG_BYTES ? null : readTag(heard, 0, now), now);
  } else if (head.includes('"event":"mark"')) {
    const text = data.toString('latin1');
    const name = /"name":("(?:[^"\\]|\\.)*")/.exec(text)?.[1];
    if (name !== undefined) line.marks.push({ name, dueMs: Math.max(line.playedUntilMs, now) });
  } else if (head.includes('"event":"clear"')) {
    if (!Number.isNaN(line.bargedInAtMs)) {
      if (measuring) {
        reaction.push(now - line.bargedInAtMs);
        audibleReaction.push(Math.max(0, Math.min(now, line.playedUntilMs) - line.bargedInAtMs));
      }
      line.bargedInAtMs = Number.NaN;
    }
    if (measuring) clears.push({ call: line.index, atMs: now });
    line.answerBytes = 0;
    line.answerMeasured = false;
    line.playedUntilMs = now;
    for (const mark of line.marks) mark.dueMs = now;
  }
}

function audio(line: Line, bytes: number, tag: ReturnType<typeof readTag>, now: number): void {
  if (tag !== null) {
    endAnswer(line);
    line.answerMeasured = measuring;
    if (measuring) firstAudio.push(now - tag.atMs);
    if (Number.isNaN(line.firstMediaAtMs)) line.firstMediaAtMs = now;
  } else if (measuring && line.answerBytes > 0) lateness.push(Math.max(0, now - line.playedUntilMs));
  line.answerBytes += bytes;
  if (line.answerBytes >= ANSWER_BYTES && line.answerMeasured) {
    if (measuring) wholeAnswers++;
    line.answerMeasured = false;
  }
  line.playedUntilMs = Math.max(line.playedUntilMs, now) + bytes / 8;
}

/** An answer that was not cut must have come whole. */
function endAnswer(line: Line): void {
  if (measuring && line.answerMeasured && line.answerBytes > 0) shortAnswers++;
  line.answerBytes = 0;
}

// ---- what the line says ----

function speak(line: Line, now: number): void {
  const { client } = line;
  if (client === null) return;
  const frame = line.sequence % said.frames;
  if (said === track && bargeIns.has(frame) && line.playedUntilMs > now) line.bargedInAtMs = now;
  else if (now - line.bargedInAtMs > REACTION_LIMIT_MS) {
    if (measuring) missedBargeIns++;
    line.bargedInAtMs = Number.NaN;
  }
  said.mulaw.copy(scratch, 0, frame * FRAME_BYTES, (frame + 1) * FRAME_BYTES);
  writeTag(scratch, 0, line.index, line.sequence, clockMs());
  line.sequence++;
  line.chunk++;
  line.message++;
  const more = line.marks.length > 0 && line.marks[0]!.dueMs <= now;
  if (more) client.cork();
  client.send(
    `{"event":"media","sequenceNumber":"${line.message}","media":{"track":"inbound","chunk":"${line.chunk}",` +
      `"timestamp":"${(line.chunk - 1) * FRAME_MS}","payload":"${scratch.toString('base64')}"},"streamSid":"${line.streamSid}"}`,
  );
  if (measuring) sentFrames++;
  for (let mark = line.marks[0]; mark !== undefined && mark.dueMs <= now; mark = line.marks[0]) {
    line.marks.shift();
    line.message++;
    client.send(
      `{"event":"mark","sequenceNumber":"${line.message}","streamSid":"${line.streamSid}","mark":{"name":${mark.name}}}`,
    );
  }
  if (more) client.uncork();
}

function join(line: Line): void {
  const found = moments.findIndex((one) => one.momentMs > line.momentMs);
  const at = found < 0 ? moments.length : found;
  moments.splice(at, 0, line);
  if (at < next) next++;
}

let cycleMs = performance.now();
let next = 0;
const nap = new Int32Array(new SharedArrayBuffer(4));

/** Timers know whole milliseconds only: the thread naps by a futex, and lets the sockets be read in between. */
function turn(): void {
  let now = performance.now();
  for (;;) {
    if (next >= moments.length) {
      if (now < cycleMs + FRAME_MS) break;
      cycleMs += FRAME_MS;
      next = 0;
      if (moments.length === 0) break;
    }
    const line = moments[next];
    if (line === undefined) continue;
    const dueMs = cycleMs + line.momentMs;
    if (dueMs > now) break;
    if (measuring) lateSends.push(now - dueMs);
    next++;
    speak(line, clockMs());
    now = performance.now();
  }
  const dueMs = cycleMs + (moments[next]?.momentMs ?? FRAME_MS);
  const restMs = Math.min(NAP_MS, dueMs - performance.now());
  if (moments.length === 0) setTimeout(turn, 5);
  else {
    if (restMs > 0.02) Atomics.wait(nap, 0, 0, restMs);
    setImmediate(turn);
  }
}
turn();

// ---- REST and hooks ----

let accountSid = '';
let secret = '';
let mediaPort = 0;
let closing = false;
const parameters = new Map<number, Record<string, string>>();

async function formOf(request: IncomingMessage): Promise<URLSearchParams> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return new URLSearchParams(Buffer.concat(chunks).toString('utf8'));
}

async function hook(url: string, form: Record<string, string>): Promise<string> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'x-twilio-signature': sign(secret, url, form),
    },
    body: new URLSearchParams(form).toString(),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url}: ${response.status} ${text.slice(0, 200)}`);
  return text;
}

const unquote = (text: string) =>
  text.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');

/** Rings, answers, connects the stream. */
async function placeCall(sid: string, form: URLSearchParams): Promise<void> {
  const to = form.get('To') ?? '';
  const line = newLine(Number(to.slice(-6)));
  const base = {
    CallSid: sid,
    AccountSid: accountSid,
    To: to,
    From: form.get('From') ?? '',
    ApiVersion: '2010-04-01',
  };
  const statusUrl = form.get('StatusCallback') ?? '';
  const status = (CallStatus: string, SequenceNumber: string) =>
    hook(statusUrl, { ...base, CallStatus, SequenceNumber, Timestamp: new Date().toUTCString() });
  await status('initiated', '0');
  await status('ringing', '1');
  await status('in-progress', '2');
  const twiml = await hook(form.get('Url') ?? '', { ...base, CallStatus: 'in-progress' });
  const url = unquote(/<Stream[^>]* url="([^"]+)"/.exec(twiml)?.[1] ?? '');
  if (url === '') throw new Error(`no stream in ${twiml}`);
  const given: Record<string, string> = {};
  for (const [, name, value] of twiml.matchAll(/<Parameter name="([^"]*)" value="([^"]*)"/g))
    given[unquote(name ?? '')] = unquote(value ?? '');
  parameters.set(line.index, given);
  // A reverse proxy that knows the media threads' own ports brings each socket straight to its thread.
  const thread = Number(/\/media\/(\d+)\//.exec(url)?.[1] ?? 0);
  const port = mediaPort === 0 ? Number(new URL(url).port) : mediaPort + thread - 1;
  connectLine(line, { url, port, token: given.token ?? '', callSid: sid });
}

let calls = 0;
const rest = createServer((request, response) => {
  const answer = (status: number, body: unknown) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://carrier');
  void formOf(request).then((form) => {
    const number = { sid: `PN${'1'.repeat(32)}`, phone_number: '+15550100000', friendly_name: 'bench' };
    if (pathname.includes('/AvailablePhoneNumbers/'))
      answer(200, { available_phone_numbers: [{ ...number, iso_country: 'US' }] });
    else if (pathname.includes('/PhoneNumbers/Countries/')) {
      const price = { base_price: '1.15', current_price: '1.15' };
      const phone_number_prices = ['local', 'mobile', 'national', 'toll free'].map((number_type) => ({
        number_type,
        ...price,
      }));
      answer(200, { price_unit: 'USD', phone_number_prices });
    } else if (pathname.endsWith('/IncomingPhoneNumbers.json'))
      answer(
        request.method === 'GET' ? 200 : 201,
        request.method === 'GET' ? { incoming_phone_numbers: [] } : number,
      );
    else if (pathname.endsWith('/Calls.json') && request.method === 'POST') {
      const sid = `CA${String(++calls).padStart(32, '0')}`;
      answer(201, { sid, status: 'queued', to: form.get('To'), from: form.get('From') });
      placeCall(sid, form).catch((error: unknown) => failures.push(String(error)));
    } else if (/\/Calls\/CA\d+\.json$/.test(pathname)) {
      const sid = /CA\d+/.exec(pathname)?.[0];
      answer(200, {
        sid,
        status: form.get('Status') ?? 'in-progress',
        to: null,
        from: null,
        ...Object.fromEntries(searchParams),
      });
    } else answer(404, { code: 20404, message: 'not found' });
  });
});

// ---- orders ----

function report(): CarrierReport {
  return {
    open: lines.filter((line) => line?.client != null).length,
    failures: failures.slice(0, 20),
    sentFrames,
    receivedMessages,
    lateSends: lateSends.summary(),
    shortAnswers,
    wholeAnswers,
    missedBargeIns,
    firstAudio: firstAudio.summary(),
    lateness: lateness.summary(),
    reaction: reaction.summary(),
    audibleReaction: audibleReaction.summary(),
    clears,
    starts,
  };
}

function begin(): void {
  for (const samples of [firstAudio, lateness, reaction, audibleReaction, lateSends]) samples.clear();
  sentFrames = 0;
  receivedMessages = 0;
  shortAnswers = 0;
  wholeAnswers = 0;
  missedBargeIns = 0;
  clears = [];
  failures = [];
  measuring = true;
  for (const line of lines) if (line) line.answerMeasured = false;
}

process.on('message', (order: CarrierOrder) => {
  switch (order.do) {
    case 'open':
      ({ accountSid, secret, mediaPort } = order);
      return;
    case 'dial':
      for (let index = order.from; index < order.to; index++) {
        setTimeout(
          () => {
            const line = newLine(index);
            connectLine(line, {
              url: order.url,
              port: Number(new URL(order.url).port),
              token: null,
              callSid: `CA${index}`,
            });
          },
          (index - order.from) * 20,
        );
      }
      return;
    case 'hurry':
      said = order.on ? shortTurns : track;
      return;
    case 'begin':
      begin();
      return;
    case 'end':
      measuring = false;
      starts = lines
        .filter((line) => line !== undefined)
        .map(({ index, startedAtMs, firstMediaAtMs }) => ({ call: index, startedAtMs, firstMediaAtMs }));
      process.send?.(report());
      return;
    case 'count':
      process.send?.({
        open: lines.filter((line) => line?.client != null).length,
        failures: failures.slice(0, 5),
      });
      return;
    case 'close':
      closing = true;
      said = track;
      for (const line of lines) line?.client?.close();
      lines.length = 0;
      moments = [];
      next = 0;
      parameters.clear();
      failures = [];
      closing = false;
      process.send?.({ open: 0 });
      return;
  }
});
process.on('disconnect', () => process.exit(0));
rest.keepAliveTimeout = 60_000;
rest.listen(0, '127.0.0.1', () => {
  const address = rest.address();
  process.send?.({ listening: typeof address === 'object' ? address?.port : 0 });
});
