// The control API, for tests and for scripts in another process: what is known, what happens now, what shall happen.
// JSON, without authentication: the simulator listens on loopback.
import express, { type Router } from 'express';
import { z } from 'zod';
import type { EventLog, SimulatorEvent } from './event-log.ts';
import type { Faults } from './faults.ts';
import { type CalleeInput, type FaultInput, parseFault } from './options.ts';
import type { CallReport } from './report.ts';

export interface InboundRequest {
  to: string;
  from: string;
  /** A script, or the name of one from the configuration. */
  callee?: CalleeInput | string;
}
export interface Control {
  events: EventLog;
  faults: Faults;
  calls(): CallReport[];
  /** The worst lateness of the carrier's own clock so far, in milliseconds. */
  lateMs(): number;
  call(sid: string): CallReport | null;
  wire(sid: string): unknown;
  /** @throws Error when the number is not ours or the script is wrong */
  placeInboundCall(request: InboundRequest): Promise<CallReport>;
  hangUp(sid: string): boolean;
  /** Lets go of a call that is over. False when there is none, or it lives. */
  forget(sid: string): boolean;
  setCallee(phoneNumber: string, callee: CalleeInput): Promise<void>;
}

const inbound = z.strictObject({
  to: z.string(),
  from: z.string(),
  callee: z.union([z.string(), z.record(z.string(), z.unknown())]).optional(),
});

export function controlRoutes(control: Control): Router {
  const router = express.Router();
  router.use(express.json({ limit: '1mb' }));

  router.get('/calls', (request, response) => {
    const { number } = request.query;
    const calls = control.calls();
    response.json({
      calls: number === undefined ? calls : calls.filter(({ to, from }) => to === number || from === number),
      lateMs: control.lateMs(),
    });
  });
  router.get('/calls/:sid', (request, response) => {
    const call = control.call(request.params.sid);
    if (call) response.json(call);
    else response.status(404).json({ error: 'no such call' });
  });
  router.delete('/calls/:sid', (request, response) => {
    if (control.forget(request.params.sid)) response.status(204).end();
    else response.status(404).json({ error: 'no such ended call' });
  });
  router.get('/calls/:sid/wire', (request, response) => {
    response.json({ streams: control.wire(request.params.sid) });
  });
  router.post('/calls/:sid/hang-up', (request, response) => {
    if (control.hangUp(request.params.sid)) response.json(control.call(request.params.sid));
    else response.status(404).json({ error: 'no such live call' });
  });
  router.post('/inbound-calls', async (request, response) => {
    const body = inbound.safeParse(request.body);
    if (!body.success) {
      response.status(400).json({ error: z.prettifyError(body.error) });
      return;
    }
    try {
      response.status(201).json(await control.placeInboundCall(body.data as InboundRequest));
    } catch (error) {
      response.status(400).json({ error: messageOf(error) });
    }
  });
  router.put('/callees/:number', async (request, response) => {
    try {
      await control.setCallee(request.params.number, request.body as CalleeInput);
      response.status(204).end();
    } catch (error) {
      response.status(400).json({ error: messageOf(error) });
    }
  });
  router.get('/faults', (_request, response) => {
    response.json({ faults: control.faults.list() });
  });
  router.post('/faults', (request, response) => {
    try {
      const faults: FaultInput[] = Array.isArray(request.body) ? request.body : [request.body];
      for (const fault of faults.map(parseFault)) control.faults.add(fault);
      response.status(201).json({ faults: control.faults.list() });
    } catch (error) {
      response.status(400).json({ error: messageOf(error) });
    }
  });
  router.delete('/faults', (_request, response) => {
    control.faults.clear();
    response.status(204).end();
  });

  /** Server-sent events when asked for, else a line of JSON each. `?after=` an id replays what came since. */
  router.get('/events', (request, response) => {
    const sse = (request.headers.accept ?? '').includes('text/event-stream');
    const after = request.query.after ?? request.headers['last-event-id'];
    response.setHeader('content-type', sse ? 'text/event-stream' : 'application/x-ndjson');
    response.setHeader('cache-control', 'no-store');
    response.flushHeaders();
    const write = (event: SimulatorEvent) => {
      const line = JSON.stringify(event);
      response.write(sse ? `id: ${event.id}\nevent: ${event.type}\ndata: ${line}\n\n` : `${line}\n`);
    };
    if (typeof after === 'string') for (const event of control.events.after(Number(after) || 0)) write(event);
    const stop = control.events.listen(write);
    response.on('close', stop);
  });
  return router;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
