// What OpenAI's realtime models, and servers that speak as theirs, are known by: settings, voices, formats. PURE: it
// asks by what it is given.
import type { Found } from '../../setup.ts';
import type { ModelSetup } from '../setup.ts';

/** The last 90 days of a model are told of. */
const SOON_DAYS = 90;

export const openaiSetup: ModelSetup = {
  kind: 'openai',
  needs: ['OPENAI_API_KEY'],
  vendor: 'openai.com',
  voices: ['alloy', 'ash', 'ballad', 'coral', 'echo', 'sage', 'shimmer', 'verse', 'marin', 'cedar'],
  defaultVoice: 'marin',
  formats: [
    { encoding: 'mulaw', rateHz: 8000 },
    { encoding: 'alaw', rateHz: 8000 },
    { encoding: 'pcm16', rateHz: 24000 },
  ],
  capabilities: { truncates: true, saysLines: false, callsTools: true },
  settings: { url: 'OPENAI_BASE_URL', apiKey: 'OPENAI_API_KEY', model: 'REALTIME_MODEL' },
  fromSettings: (config) => ({
    kind: 'openai',
    url: config.OPENAI_BASE_URL,
    apiKey: config.OPENAI_API_KEY ?? '',
    model: config.REALTIME_MODEL,
    transcriptionModel: config.TRANSCRIPTION_MODEL,
  }),
  probe: ({ url, apiKey, model }) => ({
    url: `${url}/models/${encodeURIComponent(model)}`,
    headers: { authorization: `Bearer ${apiKey}` },
  }),
  /** By listing the models. */
  async tryOut(config, { ask, now }) {
    const asked = await ask(`${config.OPENAI_BASE_URL}/models`, {
      authorization: `Bearer ${config.OPENAI_API_KEY}`,
    });
    if ('error' in asked) {
      return [
        {
          state: 'fail',
          says: `${config.OPENAI_BASE_URL} does not answer (${asked.error}).`,
          mend: 'Check the network and the firewall of this host: it needs https and wss to the model.',
        },
      ];
    }
    if (asked.status === 401 || asked.status === 403) {
      return [
        {
          state: 'fail',
          says: 'It refuses the key.',
          mend: 'Make a key at the model’s console and set OPENAI_API_KEY; it must be of a project that has credit.',
        },
      ];
    }
    const listed = (asked.body as { data?: unknown } | null)?.data;
    if (asked.status !== 200 || !Array.isArray(listed)) {
      return [
        {
          state: 'warn',
          says: `It answers ${asked.status} when asked for its models.`,
          mend: 'Where OPENAI_BASE_URL is another server than OpenAI’s this may be as it should: place a test call.',
        },
      ];
    }
    const { REALTIME_MODEL, TRANSCRIPTION_MODEL, EXTRACTION_MODEL } = config;
    return judgeModels(listed, { REALTIME_MODEL, TRANSCRIPTION_MODEL, EXTRACTION_MODEL }, now);
  },
};

/** Which of the models that settings name the account does not list, or not for much longer. */
export function judgeModels(
  listed: readonly { id: string; shutdown_date?: unknown }[],
  wanted: Readonly<Record<string, string>>,
  now: Date,
): Found[] {
  const known = new Map(listed.map((model) => [model.id, model]));
  const found: Found[] = [];
  for (const [setting, id] of Object.entries(wanted)) {
    const model = known.get(id);
    if (model === undefined) {
      found.push({
        state: 'fail',
        says: `The account does not offer ${id} (${setting}).`,
        mend: `Set ${setting} to one it offers, or ask for access.`,
      });
      continue;
    }
    const until = shutdown(model.shutdown_date);
    if (until === null) continue;
    const days = Math.floor((until.getTime() - now.getTime()) / 86_400_000);
    if (days > SOON_DAYS) continue;
    found.push({
      state: days < 0 ? 'fail' : 'warn',
      says: `${id} (${setting}) ${days < 0 ? 'was shut down' : 'is going to be shut down'} on ${until.toISOString().slice(0, 10)}.`,
      mend: `Set ${setting} to its successor.`,
    });
  }
  if (found.length > 0) return found;
  return [
    { state: 'ok', says: `The key works, and the account offers ${Object.values(wanted).join(', ')}.` },
  ];
}

/** UNVERIFIED: documented as a field of GET /v1/models; its form is not. */
function shutdown(value: unknown): Date | null {
  const date =
    typeof value === 'number' ? new Date(value * 1000) : typeof value === 'string' ? new Date(value) : null;
  return date === null || Number.isNaN(date.getTime()) ? null : date;
}
