// Examples of campaigns for the reference; a test holds them against their schemas. PURE.
import { AGENT, CALL } from './examples.ts';

const rule = (times: number, after_minutes: number) => ({ times, after_minutes });

export const CAMPAIGN = {
  id: '0199b0c5-1a20-7d3e-8f40-516273849510',
  name: 'Reminders for March',
  agent_id: AGENT.id,
  from_number: null,
  calls_per_minute: 60,
  max_concurrent: 10,
  free_lines: 2,
  windows: [{ days: ['mon', 'tue', 'wed', 'thu', 'fri'], from: '09:00', to: '18:00' }],
  time_zone: 'America/New_York',
  window_zone: 'contact',
  max_attempts: 3,
  status: 'running',
  status_reason: null,
  retries: {
    busy: rule(2, 15),
    no_answer: rule(2, 120),
    voicemail: rule(0, 120),
    cut: rule(1, 5),
    failed: rule(1, 15),
  },
  held: null,
  contacts: { total: 240, waiting: 118, calling: 4, done: 117, refused: 1, skipped: 0 },
  created_at: '2026-03-01T11:50:00.000Z',
  updated_at: '2026-03-01T11:58:00.000Z',
  started_at: '2026-03-01T11:58:00.000Z',
  ended_at: null,
};

export const CAMPAIGN_CONTACT = {
  id: '0199b0c5-2b31-7e4f-9051-627384950611',
  campaign_id: CAMPAIGN.id,
  to_number: '+14155550123',
  context: { name: 'Ann', appointment: 'Tuesday, 10:00' },
  priority: 0,
  time_zones: ['America/Los_Angeles'],
  status: 'done',
  outcome: 'answered',
  attempts: 1,
  next_attempt_at: null,
  waits_for: null,
  last_call_id: CALL.id,
  result: { confirmed: true },
  result_status: 'completed',
  created_at: '2026-03-01T11:50:00.000Z',
  updated_at: '2026-03-01T12:00:52.006Z',
};
