// A webhook receiver that flaps: for seconds at a time it fails up to nine requests of ten, by status, by reset, by being
// slow. It keeps a ledger of every delivery that ever reached it. What the ledger must look like is judge.ts.
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Random } from '../carrier-simulator/random.ts';

export interface Arrival {
  /** performance.now() */
  atMs: number;
  /** `accepted`: a 2xx was written. */
  outcome: 'accepted' | 'refused' | 'reset';
  replay: boolean;
}

export interface Delivered {
  id: string;
  /** Which of the addresses it came to. */
  path: string;
  callId: string;
  status: string;
  type: string;
  sequence: number;
  bodyHash: string;
  arrivals: Arrival[];
}

export interface FlappingReceiver {
  url(path: string): string;
  ledger: ReadonlyMap<string, Delivered>;
  /** Requests that no Offhook would send, or that differ from what came before under the same id. */
  complaints: string[];
  requests(): number;
  /** Fails nothing any more. */
  calmDown(): void;
  close(): Promise<void>;
}

/** By which a body is told from another: a day's bodies themselves are too much to keep. */
export const hashOf = (body: string) => createHash('sha256').update(body).digest('base64');

/** Share of failures, drawn anew every so often. */
const FAIL_RATE = [0.15, 0.9] as const;
const MOOD_MS = [800, 3_500] as const;
const SLOW_MS = [100, 1_500] as const;

export async function openFlappingReceiver(random: Random): Promise<FlappingReceiver> {
  const ledger = new Map<string, Delivered>();
  const complaints: string[] = [];
  let requests = 0;
  let failRate = random.between(FAIL_RATE);
  let calm = false;
  let mood: NodeJS.Timeout | undefined;
  const change = () => {
    failRate = calm ? 0 : random.between(FAIL_RATE);
    mood = setTimeout(change, random.between(MOOD_MS));
  };
  change();

  /** Enters a request; null where it cannot be one of ours. */
  function enter(request: IncomingMessage, body: string): Delivered | null {
    const header = (name: string) => String(request.headers[name] ?? '');
    const id = header('service-event-id');
    let call: { id?: unknown; status?: unknown } = {};
    try {
      call = JSON.parse(body) as typeof call;
    } catch {
      complaints.push(`delivery ${id} has a body that is no JSON`);
    }
    const one: Delivered = {
      id,
      path: request.url ?? '',
      callId: String(call.id),
      status: String(call.status),
      type: header('service-event-type'),
      sequence: Number(header('service-event-sequence')),
      bodyHash: hashOf(body),
      arrivals: [],
    };
    if (id === '' || id !== header('webhook-id') || !(one.sequence > 0)) {
      complaints.push(`a request without proper headers: ${JSON.stringify(request.headers)}`);
      return null;
    }
    const before = ledger.get(id);
    if (before === undefined) {
      ledger.set(id, one);
      return one;
    }
    for (const field of ['path', 'type', 'sequence', 'bodyHash'] as const) {
      if (before[field] !== one[field]) complaints.push(`delivery ${id} came again with another ${field}`);
    }
    return before;
  }

  function answer(request: IncomingMessage, response: ServerResponse, body: string): void {
    const delivered = enter(request, body);
    const arrival: Arrival = {
      atMs: performance.now(),
      outcome: 'refused',
      replay: request.headers['service-replay'] === 'true',
    };
    delivered?.arrivals.push(arrival);
    const say = (status: number) => {
      if (status === 204) arrival.outcome = 'accepted';
      response.writeHead(status).end();
    };
    const fails = random.chance(failRate);
    const how = random.integer(5);
    if (!fails) say(204);
    else if (how === 0) {
      arrival.outcome = 'reset';
      request.socket.destroy();
    } else if (how === 1) setTimeout(() => say(random.pick([204, 500, 503])), random.between(SLOW_MS));
    else say(random.pick([500, 502, 503, 404]));
  }

  const server = createServer((request, response) => {
    requests += 1;
    // Gone before it has said anything.
    if (!calm && random.chance(failRate / 10)) {
      request.socket.destroy();
      return;
    }
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('error', () => {});
    request.on('end', () => answer(request, response, Buffer.concat(chunks).toString('utf8')));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;

  return {
    url: (path) => `http://127.0.0.1:${port}${path}`,
    ledger,
    complaints,
    requests: () => requests,
    calmDown() {
      calm = true;
      failRate = 0;
    },
    close() {
      clearTimeout(mood);
      server.closeAllConnections();
      return new Promise((done) => server.close(() => done()));
    },
  };
}
