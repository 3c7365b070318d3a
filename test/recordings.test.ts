// Recordings as calls and crashes leave them: parts are made one once the call is over, and nobody's who is at it is touched.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { openRecording } from '../audio/recording.ts';
import { hasParts, partOf, readPart } from '../bridge/calls/recording-parts.ts';
import { Recordings } from '../recordings.ts';
import type { CallRecord, DaemonRecord } from '../storage/records.ts';
import { makeCall } from './storage/makers.ts';

const HEADER = 44;
const BYTES_PER_MS = 32;

async function write(path: string, ms: number): Promise<void> {
  const recording = await openRecording(path);
  const samples = new Int16Array(ms * 8).fill(7);
  recording.write(samples, samples);
  await recording.close();
}

async function open(t: Test) {
  const dataDir = t.testdir({ recordings: {} });
  const calls = new Map<string, CallRecord>();
  const owners = new Map<string, Partial<DaemonRecord>>();
  const errors: unknown[] = [];
  const recordings = new Recordings({
    dataDir,
    store: {
      findCall: async (id) => calls.get(id) ?? null,
      ownerOf: async (id) => (owners.get(id) as DaemonRecord | undefined) ?? null,
      self: () => ({ epoch: 2 }) as DaemonRecord,
    },
    log: { error: (...line: unknown[]) => void errors.push(line) } as never,
  });
  return {
    recordings,
    calls,
    owners,
    errors,
    /** A call of 100 ms, and of 50 ms from 200 ms on. */
    async call(id: string, fields: Partial<CallRecord>, owner: Partial<DaemonRecord>) {
      const recording_path = join('recordings', `${id}.wav`);
      const call = makeCall('o', { id, recording_path, ...fields });
      calls.set(id, call);
      owners.set(id, owner);
      await write(join(dataDir, recording_path), 100);
      await write(join(dataDir, partOf(recording_path, 200)), 50);
      return call;
    },
    files: () => readdirSync(join(dataDir, 'recordings')).sort(),
    lengthOf: (id: string) =>
      (statSync(join(dataDir, 'recordings', `${id}.wav`)).size - HEADER) / BYTES_PER_MS,
  };
}

t.test('names of parts say what they are of and where they begin', async (t) => {
  t.equal(partOf('recordings/a.wav', 1_234.6), 'recordings/a.part-1235.wav');
  t.strictSame(readPart('recordings/a.part-1235.wav'), {
    recordingPath: 'recordings/a.wav',
    offsetMs: 1_235,
  });
  t.equal(readPart('recordings/a.wav'), null);
  t.equal(readPart('recordings/a.part-1.wav.joining'), null);
  const gap = { started_at: '', from_ms: 0, to_ms: null };
  for (const [path, why, has] of [
    ['recordings/a.wav', 'thread_lost', true],
    ['recordings/a.wav', 'daemon_restart', true],
    ['recordings/a.wav', 'stream_lost', false],
    [null, 'thread_lost', false],
  ] as const)
    t.equal(hasParts({ recording_path: path, gaps: [{ ...gap, why }] }), has, `${path} ${why}`);
});

t.test('the parts of a call are made one, though it is asked for twice', async (t) => {
  const rig = await open(t);
  const call = await rig.call('one', { status: 'completed' }, { epoch: 2, ended_at: null });
  await Promise.all([rig.recordings.join(call), rig.recordings.join(call)]);
  t.strictSame(rig.files(), ['one.wav']);
  t.equal(rig.lengthOf('one'), 250);
  t.strictSame(rig.errors, []);
});

t.test('what a crash left in parts is made one, of calls that are over and of no other daemon', async (t) => {
  const rig = await open(t);
  await rig.call('own', { status: 'completed' }, { epoch: 2, ended_at: null });
  await rig.call('dead', { status: 'failed' }, { epoch: 1, ended_at: '2026-01-01T00:00:00.000Z' });
  await rig.call('live', { status: 'in_progress' }, { epoch: 2, ended_at: null });
  await rig.call('others', { status: 'completed' }, { epoch: 3, ended_at: null });
  await rig.recordings.joinLeft('recordings');
  t.strictSame(rig.files(), [
    'dead.wav',
    'live.part-200.wav',
    'live.wav',
    'others.part-200.wav',
    'others.wav',
    'own.wav',
  ]);
  t.strictSame([rig.lengthOf('own'), rig.lengthOf('dead'), rig.lengthOf('live')], [250, 250, 100]);
  t.strictSame(rig.errors, []);
});

t.test('a folder that cannot be read is told of, and nobody fails', async (t) => {
  const rig = await open(t);
  await rig.recordings.joinLeft('nowhere');
  await rig.recordings.join(makeCall('o', { id: 'x', recording_path: 'nowhere/x.wav' }));
  t.match(rig.errors, [
    [{ err: { code: 'ENOENT' } }, 'recording.not_joined'],
    [{ call_id: 'x' }, 'recording.not_joined'],
  ]);
});
