// A small application for the simulator's tests: answers its hooks, accepts its media streams, and checks every
// signature with the carrier's own SDK.
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import twilio from 'twilio';
import { type WebSocket, WebSocketServer } from 'ws';

export interface Hook {
  path: string;
  method: string;
  parameters: Record<string, string>;
  /** The SDK's verdict. */
  signed: boolean;
}
/** Answers TwiML, or a status with or without a body. */
export type HookHandler = (hook: Hook) => string | { status: number; type?: string; body?: string };

export interface WireMessage {
  event: string;
  sequenceNumber?: string;
  streamSid?: string;
  start?: Record<string, unknown>;
  media?: { track: string; chunk: string; timestamp: string; payload: string };
  mark?: { name: string };
  dtmf?: { track: string; digit: string };
  stop?: Record<string, string>;
  protocol?: string;
  version?: string;
}

interface Waiting {
  fits: (message: WireMessage) => boolean;
  resolve: (message: WireMessage) => void;
}

/** One media stream as the application sees it. */
export class Session {
  readonly messages: WireMessage[] = [];
  readonly socket: WebSocket;
  readonly signed: boolean;
  readonly path: string;
  closeCode: number | null = null;
  #waiting: Waiting[] = [];
  readonly closed: Promise<number>;

  constructor(socket: WebSocket, path: string, signed: boolean) {
    this.socket = socket;
    this.path = path;
    this.signed = signed;
    this.closed = new Promise((resolve) => {
      socket.on('close', (code) => {
        this.closeCode = code;
        resolve(code);
      });
    });
    socket.on('message', (data: Buffer) => {
      const message = JSON.parse(data.toString()) as WireMessage;
      this.messages.push(message);
      const left: Waiting[] = [];
      for (const waiting of this.#waiting) {
        if (waiting.fits(message)) waiting.resolve(message);
        else left.push(waiting);
      }
      this.#waiting = left;
    });
  }

  get streamSid(): string {
    return this.messages.find((message) => message.event === 'start')?.streamSid ?? '';
  }

  of(event: string): WireMessage[] {
    return this.messages.filter((message) => message.event === event);
  }

  /** The first message, past or coming, that fits. */
  message(fits: (message: WireMessage) => boolean): Promise<WireMessage> {
    const past = this.messages.find(fits);
    return past ? Promise.resolve(past) : this.later(fits);
  }

  /** The first coming message that fits. */
  later(fits: (message: WireMessage) => boolean): Promise<WireMessage> {
    return new Promise((resolve) => this.#waiting.push({ fits, resolve }));
  }

  /** Resolves after so many more media messages: the application's way to let wire time pass. */
  frames(count: number): Promise<unknown> {
    let seen = 0;
    return this.later((message) => message.event === 'media' && ++seen >= count);
  }

  send(message: Record<string, unknown>): void {
    this.socket.send(JSON.stringify(message));
  }

  audio(bytes: Buffer): void {
    const { streamSid } = this;
    this.send({ event: 'media', streamSid, media: { payload: bytes.toString('base64') } });
  }

  mark(name: string): void {
    this.send({ event: 'mark', streamSid: this.streamSid, mark: { name } });
  }

  clear(): void {
    this.send({ event: 'clear', streamSid: this.streamSid });
  }
}

export interface Application {
  url: string;
  wsUrl: string;
  hooks: Hook[];
  sessions: Session[];
  on(path: string, handler: HookHandler): void;
  /** The next or an earlier hook that fits. */
  hook(fits: (hook: Hook) => boolean): Promise<Hook>;
  /** The nth media stream, counted from 0. */
  session(index?: number): Promise<Session>;
  close(): Promise<void>;
}

/** An answer whose Connect streams to this application, with whatever follows. */
export function connectTwiml(
  app: { wsUrl: string },
  o: { attributes?: string; inner?: string; after?: string } = {},
) {
  return (
    `<?xml version="1.0" encoding="UTF-8"?><Response><Connect ${o.attributes ?? ''}>` +
    `<Stream url="${app.wsUrl}/media">${o.inner ?? ''}</Stream></Connect>${o.after ?? ''}</Response>`
  );
}

export async function startApplication(authToken: string): Promise<Application> {
  const handlers = new Map<string, HookHandler>();
  const hooks: Hook[] = [];
  const sessions: Session[] = [];
  let hookWaits: { fits: (hook: Hook) => boolean; resolve: (hook: Hook) => void }[] = [];
  let sessionWaits: { index: number; resolve: (session: Session) => void }[] = [];
  let base = '';

  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      const url = `${base}${request.url}`;
      const parameters = Object.fromEntries(new URLSearchParams(body));
      const path = request.url!.split('?')[0]!;
      const signature = String(request.headers['x-twilio-signature']);
      const signed = twilio.validateRequest(authToken, signature, url, parameters);
      const query = Object.fromEntries(new URL(url).searchParams);
      const hook = { path, method: request.method!, parameters: { ...query, ...parameters }, signed };
      hooks.push(hook);
      const answer = handlers.get(path)?.(hook) ?? { status: 204 };
      if (typeof answer === 'string') {
        response.writeHead(200, { 'content-type': 'text/xml' }).end(answer);
      } else {
        response.writeHead(answer.status, { 'content-type': answer.type ?? 'text/xml' }).end(answer.body);
      }
      for (const { resolve } of hookWaits.filter(({ fits }) => fits(hook))) resolve(hook);
      hookWaits = hookWaits.filter(({ fits }) => !fits(hook));
    });
  });
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket, request) => {
    const url = `${base.replace('http', 'ws')}${request.url}`;
    const signature = String(request.headers['x-twilio-signature']);
    const session = new Session(socket, request.url!, twilio.validateRequest(authToken, signature, url, {}));
    sessions.push(session);
    for (const { resolve } of sessionWaits.filter(({ index }) => index === sessions.length - 1))
      resolve(session);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  return {
    url: base,
    wsUrl: base.replace('http', 'ws'),
    hooks,
    sessions,
    on: (path, handler) => handlers.set(path, handler),
    hook(fits) {
      const past = hooks.find(fits);
      if (past) return Promise.resolve(past);
      return new Promise((resolve) => hookWaits.push({ fits, resolve }));
    },
    session(index = 0) {
      const past = sessions[index];
      if (past) return Promise.resolve(past);
      return new Promise((resolve) => {
        sessionWaits = [...sessionWaits, { index, resolve }];
      });
    },
    async close() {
      for (const client of sockets.clients) client.terminate();
      sockets.close();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString('utf8');
}
