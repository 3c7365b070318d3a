// What real voices do who listen: hums, a "yes, sir", coughs and laughs of the voice packs of a game, recorded for it by those
// who made it. Each pack one voice, in one of the sets; source and licence: docs/quality.md.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { clipOf } from './labels.ts';
import { hasFfmpeg, type ListenerNoises, type Recordings, readSound } from './recorded.ts';
import type { SetName } from './sounds.ts';

const PACKAGE = 'hedgewars-data';
const VOICES = '/usr/share/games/hedgewars/Data/Sounds/voices';
/** No pack of the one set shares a voice with one of the other; a voice that is sung or a robot's is in neither. */
const PACKS: Readonly<Record<SetName, readonly string[]>> = {
  first: ['Classic', 'Default_uk', 'Default_pl', 'Mobster', 'Surfer'],
  second: ['Default_es', 'Default_ru', 'HillBilly', 'Pirate', 'Russian'],
};
/** As the transcription writes it down; a cough and a laugh are no words. */
const FILES: Readonly<Record<keyof ListenerNoises, Readonly<Record<string, string>>>> = {
  assents: { Hmm: 'hmm', Yessir: 'yes' },
  coughs: { PoisonCough: '' },
  laughs: { Laugh: '' },
};

/** Of a set, as far as it is installed; says what was used or is missing. */
export function addListenerNoises(to: Recordings): void {
  if (!existsSync(VOICES) || !hasFfmpeg()) {
    to.missing.push(`hums, coughs and laughs of real voices (apt-get install ${PACKAGE} ffmpeg)`);
    return;
  }
  for (const pack of PACKS[to.set])
    for (const [kind, files] of Object.entries(FILES) as [keyof ListenerNoises, Record<string, string>][])
      for (const [name, text] of Object.entries(files)) {
        const path = join(VOICES, pack, `${name}.ogg`);
        const clip = existsSync(path) ? clipOf(`${pack}/${name}`, readSound(path)) : null;
        if (clip !== null)
          to.noises[kind].push({ ...clip, voice: `hedgewars ${pack}`, text, language: 'en' });
      }
  to.sources.push(`voices of Debian’s ${PACKAGE}`);
}
