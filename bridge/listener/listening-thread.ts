// The listening thread, which there is beside several media threads: it alone listens on the public port, and carries no call.
// A stream is brought to the media thread where its call lives, and whatever else comes is handed to the control thread. Of
// calls it knows where they live.
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { streamCarriers } from '../carriers/media.ts';
import { MANY_CALLS, Rounds } from '../rounds.ts';
import { bytesOf } from '../upgrade.ts';
import { createUpgradeServer } from '../upgrade-server.ts';
import type { FromListening, ListeningThreadData, Placement, ToListening } from './listening-messages.ts';
import { MediaUpgrades } from './media-upgrades.ts';
import { PublicListener } from './public-listener.ts';

const REPORT_MS = 1_000;

const data = workerData as ListeningThreadData;
const { connections } = workerData as { connections: MessagePort };
if (parentPort === null) throw new Error('A listening thread is started by the control thread.');
const control = parentPort;
const tell = (message: FromListening) => control.postMessage(message);

const placements = new Map<string, Placement>();

function obey(message: ToListening): void {
  switch (message.type) {
    case 'placed':
      placements.set(message.callId, message);
      return;
    case 'gone':
      for (const callId of message.callIds) placements.delete(callId);
      return;
    case 'stop':
      stop();
  }
}

/** The port of the thread, where the call lives there. */
function portOf(callId: string, thread: number): number | null {
  // A call is told of before its stream can come, but a socket may be read before the message that tells of it.
  while (!placements.has(callId)) {
    const told = receiveMessageOnPort(control) as { message: ToListening } | undefined;
    if (told === undefined) return null;
    obey(told.message);
  }
  const placed = placements.get(callId);
  return placed?.thread === thread ? placed.port : null;
}

const upgrades = new MediaUpgrades({
  epoch: data.epoch,
  carriers: streamCarriers(data),
  portOf,
  // Theirs come on top of the rounds of the media threads: with few streams there is little to save.
  carries: (streams) => rounds.carry(streams < MANY_CALLS ? 0 : streams),
  refuse(upgrade) {
    listener.takeBack(upgrade.socket, bytesOf(upgrade));
  },
});
const { server, limits, take } = createUpgradeServer((upgrade) => {
  upgrade.socket.on('error', () => upgrade.socket.destroy());
  limits.release(upgrade.socket);
  upgrades.take(upgrade);
});
const listener = await PublicListener.open({
  address: data.address,
  control: connections,
  isHere: ({ epoch, callId, thread }) => epoch === data.epoch && portOf(callId, thread) !== null,
  take,
  letIn: () => rounds.stir(),
});

let reportMs = performance.now() + REPORT_MS;
/** All that it does by the clock is to give an account of itself. */
const rounds = new Rounds({
  get dueMs() {
    return reportMs;
  },
  everyMs: REPORT_MS,
  run(nowMs) {
    if (nowMs < reportMs) return;
    reportMs = nowMs + REPORT_MS;
    const { p99Ms, maxMs } = rounds.delay();
    const { heapUsed, heapTotal, external, arrayBuffers } = process.memoryUsage();
    tell({
      type: 'load',
      streams: upgrades.size,
      loopDelayP99Ms: p99Ms,
      loopDelayMaxMs: maxMs,
      memory: { heapUsed, heapTotal, external, arrayBuffers },
    });
  },
});

function stop(): void {
  rounds.close();
  listener.close();
  upgrades.close();
  server.closeAllConnections();
  control.close();
}

control.on('message', obey);
tell({ type: 'listening', fd: listener.descriptor() });
