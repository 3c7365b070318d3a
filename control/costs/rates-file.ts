// The operator's own rates: a JSON file whose entries go over the ones that come along. Read once, at the start.
import { z } from 'zod';
import { readSettingsFile } from '../../settings-file.ts';
import { RATES, type Rates } from './rates.ts';

const usd = z.number().nonnegative();
const byCountry = z.record(
  z.string().regex(/^([A-Z]{2}|\*)$/, 'must be a country code such as US, or * for all others'),
  usd,
);

const file = z.strictObject({
  as_of: z.iso.date('must be the day of the rates, such as 2026-11-10'),
  speech: z
    .record(
      z.string(),
      z.strictObject({
        text_input: usd,
        text_cached: usd,
        text_output: usd,
        audio_input: usd,
        audio_cached: usd,
        audio_output: usd,
      }),
    )
    .default({}),
  transcription: z
    .record(
      z.string(),
      z.strictObject({ usd_per_minute: usd.optional(), usd_per_million_tokens: usd.optional() }),
    )
    .default({}),
  extraction: z.record(z.string(), z.strictObject({ input: usd, cached: usd, output: usd })).default({}),
  carriers: z
    .record(
      z.string(),
      z.strictObject({
        outbound_minute: byCountry,
        inbound_minute: byCountry,
        stream_minute: usd,
        machine_detection: usd,
        number_month: z
          .record(
            z.string().regex(/^[A-Z]{2}$/, 'must be a country code such as US'),
            z.partialRecord(z.enum(['local', 'mobile', 'toll_free', 'national']), usd),
          )
          .optional(),
      }),
    )
    .default({}),
});

/** @throws ConfigError when the file cannot be read or used, naming the place that is wrong */
export function readRates(path: string | null): Rates {
  if (path === null) return RATES;
  const own = readSettingsFile('RATES_FILE', path, file);
  return {
    as_of: own.as_of,
    speech: { ...RATES.speech, ...own.speech },
    transcription: { ...RATES.transcription, ...own.transcription },
    extraction: { ...RATES.extraction, ...own.extraction },
    carriers: { ...RATES.carriers, ...own.carriers },
  };
}
