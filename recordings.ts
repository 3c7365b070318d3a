// The recordings of calls on the disk, as calls and crashes leave them: the parts of a call that several have carried are made one,
// and what was broken off is mended.
import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { repairRecording } from './audio/recording-file.ts';
import { joinRecordings, type RecordingPart } from './audio/recording-join.ts';
import { readPart } from './bridge/calls/recording-parts.ts';
import type { Log } from './log.ts';
import { type CallRecord, TERMINAL_STATUSES } from './storage/records.ts';
import type { Store } from './storage/store.ts';

export interface RecordingsOptions {
  dataDir: string;
  store: Pick<Store, 'findCall' | 'ownerOf' | 'self'>;
  log: Pick<Log, 'error'>;
}

type Recorded = Pick<CallRecord, 'id' | 'recording_path'>;

export class Recordings {
  readonly #o: RecordingsOptions;
  /** Those that are being joined, by their calls: one is never written by two. */
  readonly #joining = new Map<string, Promise<void>>();

  constructor(o: RecordingsOptions) {
    this.#o = o;
  }

  /** Makes what a crash has broken off readable. Never rejects: what is no recording is left as it is. */
  async mend({ recording_path }: Recorded): Promise<void> {
    if (recording_path !== null) await repairRecording(join(this.#o.dataDir, recording_path)).catch(() => {});
  }

  /** Makes the parts of a call's recording one. Never rejects: what fails is logged, and tried again at the next start. */
  join(call: Recorded): Promise<void> {
    const joined = (this.#joining.get(call.id) ?? Promise.resolve()).then(() => this.#join(call));
    this.#joining.set(call.id, joined);
    return joined.finally(() => {
      if (this.#joining.get(call.id) === joined) this.#joining.delete(call.id);
    });
  }

  async #join({ id, recording_path }: Recorded): Promise<void> {
    if (recording_path === null) return;
    try {
      const parts = (await this.#parts(dirname(recording_path))).get(recording_path);
      if (parts === undefined) return;
      const out = join(this.#o.dataDir, recording_path);
      await joinRecordings([{ path: out, offsetMs: 0 }, ...parts], out);
    } catch (error) {
      this.#o.log.error({ call_id: id, err: error }, 'recording.not_joined');
    }
  }

  /** Joins what a process that died has left in parts, of calls that are over and nobody's. Never rejects. */
  async joinLeft(folder: string): Promise<void> {
    const { store, log } = this.#o;
    try {
      for (const recordingPath of (await this.#parts(folder)).keys()) {
        const call = await store.findCall(basename(recordingPath).replace(/\.\w+$/, ''));
        if (call === null || !(TERMINAL_STATUSES as readonly string[]).includes(call.status)) continue;
        const owner = await store.ownerOf(call.id);
        // Who has ended it may be at it.
        if (owner === null || owner.ended_at !== null || owner.epoch === store.self().epoch)
          await this.join(call);
      }
    } catch (error) {
      log.error({ err: error }, 'recording.not_joined');
    }
  }

  /** What a recording is on the disk: its file and its parts, by the calls' own paths, of all that are in a folder. */
  async filesIn(folder: string): Promise<(recordingPath: string) => string[]> {
    const parts = await this.#parts(folder);
    const below = (path: string) => path.slice(this.#o.dataDir.length + 1);
    return (path) => [path, ...(parts.get(path) ?? []).map((part) => below(part.path))];
  }

  /** The parts that are in a folder, by the recording that they are of; paths of it as calls have them. */
  async #parts(folder: string): Promise<Map<string, RecordingPart[]>> {
    const found = new Map<string, RecordingPart[]>();
    for (const name of await readdir(join(this.#o.dataDir, folder))) {
      const part = readPart(join(folder, name));
      if (part === null) continue;
      const { recordingPath, offsetMs } = part;
      const parts = found.get(recordingPath) ?? [];
      parts.push({ path: join(this.#o.dataDir, folder, name), offsetMs });
      found.set(recordingPath, parts);
    }
    return found;
  }
}
