// What a campaign has come to, from what is counted with each change. PURE.
import type { CampaignTally } from '../../storage/campaign-records.ts';

export interface ContactCounts {
  total: number;
  waiting: number;
  calling: number;
  done: number;
  refused: number;
  skipped: number;
}

export function countsOf(tallies: readonly CampaignTally[]): ContactCounts {
  const of = (status: string) =>
    tallies.find(({ kind, value }) => kind === 'status' && value === status)?.count ?? 0;
  const counts = {
    waiting: of('waiting'),
    calling: of('calling'),
    done: of('done'),
    refused: of('refused'),
    skipped: of('skipped'),
  };
  return { total: Object.values(counts).reduce((sum, count) => sum + count, 0), ...counts };
}

const sumBy = (tallies: readonly CampaignTally[], key: (tally: CampaignTally) => string) => {
  const sums: Record<string, number> = {};
  for (const tally of tallies) sums[key(tally)] = (sums[key(tally)] ?? 0) + tally.count;
  return sums;
};

export function reportOf(tallies: readonly CampaignTally[]) {
  const of = (wanted: CampaignTally['kind']) => tallies.filter(({ kind }) => kind === wanted);
  const attempts = of('attempt');
  const hours = [...new Set(attempts.map(({ hour }) => hour))].sort();
  return {
    contacts: countsOf(tallies),
    outcomes: sumBy(of('outcome'), ({ value }) => value),
    attempts: {
      total: attempts.reduce((sum, { count }) => sum + count, 0),
      by_outcome: sumBy(attempts, ({ value }) => value),
    },
    hours: hours.map((hour) => ({
      hour: `${hour}:00:00.000Z`,
      by_outcome: sumBy(
        attempts.filter((one) => one.hour === hour),
        ({ value }) => value,
      ),
    })),
  };
}
