// Breaks a running daemon from outside, through Node's own inspector: an error that nobody catches, on the control thread
// or on one media thread. The daemon has no door for this; it must have been started with INSPECTABLE.
import { WebSocket } from 'ws';
import { type Lab, until } from '../../scripts/lab.ts';

/** Settings of the environment with which a signal opens the inspector on any free port of loopback. */
export const INSPECTABLE = { NODE_OPTIONS: '--inspect-port=127.0.0.1:0' };

const THROW = "setTimeout(() => { throw new Error('broken on purpose') }, 200); 0";
const REJECT = "setTimeout(() => { Promise.reject(new Error('broken on purpose')) }, 200); 0";
const HANG = 'setTimeout(() => { for (;;); }, 200); 0';

interface Message {
  id?: number;
  method?: string;
  params?: { sessionId?: string; workerInfo?: { title?: string }; message?: string };
}

/** Has `work` talk with the inspector, and hangs up on it: a process waits with its end for whoever inspects it. */
async function inspect(
  lab: Lab,
  work: (o: {
    send(method: string, params?: Record<string, unknown>): void;
    next(fits: (message: Message) => boolean): Promise<Message>;
  }) => Promise<void>,
): Promise<void> {
  process.kill(lab.daemon.pid, 'SIGUSR1');
  const url = await until('the inspector', () =>
    lab.daemon.lines.map((line) => /Debugger listening on (ws:\S+)/.exec(line)?.[1]).find((one) => one),
  );
  const socket = new WebSocket(url);
  const seen: Message[] = [];
  socket.on('message', (data) => seen.push(JSON.parse(String(data)) as Message));
  await new Promise<void>((open, fail) => {
    socket.on('open', () => open());
    socket.on('error', fail);
  });
  let id = 0;
  try {
    await work({
      send(method, params = {}) {
        id += 1;
        socket.send(JSON.stringify({ id, method, params }));
      },
      next: (fits) => until('a message of the inspector', () => seen.find(fits)),
    });
  } finally {
    const closed = new Promise<void>((done) => socket.once('close', () => done()));
    socket.close();
    await closed;
  }
}

/** An uncaught error, or a rejection that nobody handles, on the control thread. */
export function breakDaemon(lab: Lab, how: 'throw' | 'reject'): Promise<void> {
  return inspect(lab, async ({ send, next }) => {
    send('Runtime.evaluate', { expression: how === 'throw' ? THROW : REJECT });
    await next((message) => message.id === 1);
  });
}

/** Runs an expression on the thread of that name. */
function evaluateOnThread(lab: Lab, name: string, expression: string): Promise<void> {
  return inspect(lab, async ({ send, next }) => {
    send('NodeWorker.enable', { waitForDebuggerOnStart: false });
    const { params } = await next(
      ({ method, params }) =>
        method === 'NodeWorker.attachedToWorker' && params?.workerInfo?.title?.includes(name) === true,
    );
    const message = JSON.stringify({ id: 7, method: 'Runtime.evaluate', params: { expression } });
    send('NodeWorker.sendMessageToWorker', { sessionId: params?.sessionId, message });
    await next(
      ({ method, params }) =>
        method === 'NodeWorker.receivedMessageFromWorker' && params?.message?.includes('"id":7') === true,
    );
  });
}

/** An uncaught error on a media thread. */
export function breakMediaThread(lab: Lab, thread: number): Promise<void> {
  return evaluateOnThread(lab, `media-${thread}`, THROW);
}

/** The same on the listening thread. */
export function breakListeningThread(lab: Lab): Promise<void> {
  return evaluateOnThread(lab, 'listening', THROW);
}

/** A listening thread that computes for ever. */
export function hangListeningThread(lab: Lab): Promise<void> {
  return evaluateOnThread(lab, 'listening', HANG);
}

/** A media thread that computes for ever. */
export function hangMediaThread(lab: Lab, thread: number): Promise<void> {
  return evaluateOnThread(lab, `media-${thread}`, HANG);
}

/** Has a media thread compute for `busyMs` of every `everyMs`, until `relieveMediaThread`. */
export function burdenMediaThread(
  lab: Lab,
  thread: number,
  o: { busyMs: number; everyMs: number },
): Promise<void> {
  const work = `const end = performance.now() + ${o.busyMs}; while (performance.now() < end);`;
  return evaluateOnThread(
    lab,
    `media-${thread}`,
    `globalThis.burden = setInterval(() => { ${work} }, ${o.everyMs}); 0`,
  );
}

export function relieveMediaThread(lab: Lab, thread: number): Promise<void> {
  return evaluateOnThread(lab, `media-${thread}`, 'clearInterval(globalThis.burden); 0');
}
