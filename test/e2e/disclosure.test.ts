// What an agent says before all else: it is heard to its end whatever somebody does, and where it is not (he hangs up, the daemon
// is killed), the call tells to the word how much of it was.
import t, { type Test } from 'tap';
import type { CalleeInput } from '../../scripts/carrier-simulator/options.ts';
import type { CallReport } from '../../scripts/carrier-simulator/report.ts';
import type { PublicCall } from '../../storage/call-view.ts';
import { openRig, POLITE, until } from './rig.ts';

const LINE = 'Hello, this is an AI assistant calling for Riverside Dental.';
const THANKS = 'caller-thanks.wav';
const QUESTION = 'caller-more-info.wav';
const human = { verdict: 'human' as const, afterMs: 2_000 };
const over = (file: string, afterAgentMs: number) => ({ do: 'barge_in' as const, file, afterAgentMs });

const CALLEES: Record<string, CalleeInput> = {
  // Speaks at once, and again over its middle, and presses keys.
  '+15550710001': {
    ringMs: 200,
    amd: human,
    steps: [
      { do: 'say', file: QUESTION, when: 'at_once' },
      { do: 'dtmf', digits: '12', when: 'at_once' },
      over(THANKS, 1_500),
    ],
  },
  '+15550710002': { ...POLITE, ringMs: 200 },
  '+15550710003': {
    ringMs: 200,
    amd: human,
    steps: [{ do: 'hang_up', when: { afterAgentMs: 1_800, timeoutMs: 20_000 } }],
  },
  '+15550710004': {
    ringMs: 200,
    voicemail: { greeting: { file: 'voicemail-greeting-with-beep.wav' }, beep: null },
  },
  '+15550710005': { ...POLITE, ringMs: 200 },
};

t.jobs = 2;

t.test('said before all else', async (t) => {
  const rig = await openRig(t, { carrier: { callees: CALLEES }, env: { RECORD_CALLS: 'true' } });
  t.jobs = 8;
  const { lab } = rig;
  const named = await lab.api('PATCH', '/v1/organization', { spoken_name: 'Riverside Dental' });
  t.match(named, { status: 200, body: { said_as: 'Riverside Dental' } });
  const carrierOf = async (to: string) =>
    (await lab.ask<{ calls: CallReport[] }>('carrier', '/calls')).calls.find((call) => call.to === to);
  const standard = { disclosure: { mode: 'standard' } };
  const heardWhole = (t: Test, call: PublicCall) =>
    t.match(call.disclosure, { text: LINE, heard_text: LINE, complete: true });

  await Promise.all([
    t.test(
      'spoken over from the first moment on: it is not cut, and what was said is answered after it',
      async (t) => {
        const agent = await rig.agent({ instructions: 'TEST-BRIEF', ...standard });
        const { id } = await rig.dial(agent.id, '+15550710001');
        const call = await rig.ended(id);
        heardWhole(t, call);
        t.ok((call.disclosure?.heard_ms ?? 0) > 2_000);
        const talk = await rig.transcript(id);
        const spoken = talk.filter(({ role }) => role === 'agent');
        t.match(spoken[0], { text: LINE, heard_text: LINE, interrupted: false });
        t.equal(spoken[0]?.start_ms, call.disclosure?.started_ms);
        t.equal(spoken[0]?.end_ms, call.disclosure?.ended_ms);
        t.match(spoken[1]?.text, /Thank you\. Goodbye/, 'the answer to what was said meanwhile');
        t.match(talk.find(({ role }) => role === 'caller')?.text, /information/);
        t.equal(call.hangup_cause, 'agent_ended');
        // Nothing of it waited while somebody spoke.
        const { heard_ms = 0, started_ms, ended_ms } = call.disclosure ?? {};
        const tookMs = (ended_ms ?? 0) - (started_ms ?? 0);
        t.ok(tookMs - heard_ms < 400 + (await rig.lateMs()), `${heard_ms} ms of it in ${tookMs} ms`);
        t.same((await lab.api('GET', `/v1/calls/${id}/turns`)).body.interruptions, [], 'nor was it lowered');
      },
    ),
    t.test('then the greeting', async (t) => {
      const agent = await rig.agent({ instructions: 'TEST-BRIEF', ...standard });
      const { id } = await rig.dial(agent.id, '+15550710002');
      const call = await rig.ended(id);
      heardWhole(t, call);
      const said = (await rig.transcript(id)).filter(({ role }) => role === 'agent');
      t.match(
        said.map(({ text }) => text),
        [LINE, /automated assistant/, /Thank you/],
      );
    }),
    t.test('somebody hangs up in the middle: as much as he heard, and no more', async (t) => {
      const agent = await rig.agent({ instructions: 'TEST-BRIEF', ...standard });
      const { id } = await rig.dial(agent.id, '+15550710003');
      const { disclosure, hangup_cause } = await rig.ended(id);
      t.equal(hangup_cause, 'remote_hangup');
      t.match(disclosure, { text: LINE, complete: false });
      const heard = disclosure?.heard_text ?? '';
      t.ok(heard.length > 5 && heard.length < LINE.length && LINE.startsWith(heard), heard);
      const [line] = await rig.transcript(id);
      t.match(line, { text: LINE, heard_text: heard, interrupted: true });
      const carrier = await carrierOf('+15550710003');
      const lineMs = (carrier?.endedAtMs ?? 0) - (carrier?.answeredAtMs ?? 0);
      const soundMs = lineMs - (carrier?.conversation?.firstAgentAudioMs ?? 0);
      t.ok(
        (disclosure?.heard_ms ?? 0) <= soundMs + 300 + (await rig.lateMs()),
        `${disclosure?.heard_ms} ms of ${soundMs}`,
      );
    }),
    t.test('on a voicemail before the message', async (t) => {
      const agent = await rig.agent({
        instructions: 'TEST-VOICEMAIL',
        voicemail_action: 'leave_message',
        ...standard,
      });
      const { id } = await rig.dial(agent.id, '+15550710004');
      const call = await rig.ended(id);
      t.match(call, { status: 'completed', hangup_cause: 'voicemail' });
      heardWhole(t, call);
      const said = (await rig.transcript(id)).filter(
        ({ role, heard_text }) => role === 'agent' && heard_text !== '',
      );
      t.match(
        said.slice(-2).map(({ heard_text }) => heard_text),
        [LINE, /Please call us back/],
      );
      const { voicemail } = (await carrierOf(call.to_number)) ?? {};
      t.ok((voicemail?.messageStartMs ?? 0) >= (voicemail?.beepEndedMs ?? 0));
      const length = (voicemail?.messageEndMs ?? 0) - (voicemail?.messageStartMs ?? 0);
      t.ok(length > (call.disclosure?.heard_ms ?? 0), 'the line and the message are on it');
    }),
    t.test('a line of one’s own, and that the call is recorded', async (t) => {
      const agent = await rig.agent({
        instructions: 'TEST-BRIEF',
        disclosure: { mode: 'custom', text: 'A computer calls you for {organization}.' },
      });
      await lab.api('PATCH', '/v1/organization', { recording_notice: 'always' });
      const { id } = await rig.dial(agent.id, '+15550710005');
      await lab.api('PATCH', '/v1/organization', { recording_notice: null });
      const text = 'A computer calls you for Riverside Dental. This call is recorded.';
      t.match((await rig.ended(id)).disclosure, { text, heard_text: text, complete: true });
    }),
  ]);
});

t.test(
  'killed in the middle of it: what was heard up to then is told, and who is still there is told anew',
  async (t) => {
    const human = { verdict: 'human' as const, afterMs: 2_000 };
    const rig = await openRig(t, {
      carrier: {
        callees: {
          '+15550710011': { ...POLITE, ringMs: 200 },
          // Longer than any pause of the line, and shorter than a restart.
          '+15550710012': {
            ringMs: 200,
            amd: human,
            steps: [{ do: 'hang_up', when: { afterAgentSilenceMs: 800, timeoutMs: 60_000 } }],
          },
        },
      },
    });
    await rig.lab.api('PATCH', '/v1/organization', { spoken_name: 'Riverside Dental' });
    const agent = await rig.agent({ instructions: 'TEST-BRIEF', disclosure: { mode: 'standard' } });
    const stays = await rig.dial(agent.id, '+15550710011');
    const leaves = await rig.dial(agent.id, '+15550710012');
    const heardOf = async (id: string) => (await rig.call(id)).disclosure?.heard_text ?? '';
    const begun = await until('a word of both', async () => {
      const heard = [await heardOf(stays.id), await heardOf(leaves.id)];
      return heard.every((text) => text !== '') ? heard : null;
    });
    await rig.lab.daemon.stop('SIGKILL');
    await rig.lab.restartDaemon();

    const { disclosure, status } = await rig.ended(stays.id);
    t.equal(status, 'completed');
    t.match(disclosure, { text: LINE, heard_text: LINE, complete: true }, 'said anew, to its end');
    const lines = (await rig.transcript(stays.id)).filter(
      ({ role, text }) => role === 'agent' && text === LINE,
    );
    t.equal(lines.length, 2, 'both times are in the transcript');
    t.ok(
      lines[0]?.interrupted &&
        LINE.startsWith(lines[0].heard_text) &&
        lines[0].heard_text.startsWith(begun[0] ?? '-'),
    );
    t.equal(lines[1]?.start_ms, disclosure?.started_ms);

    const left = await rig.ended(leaves.id);
    const heard = left.disclosure?.heard_text ?? '';
    t.match(left.disclosure, { text: LINE, complete: false });
    t.ok(heard.startsWith(begun[1] ?? '-') && LINE.startsWith(heard) && heard !== LINE, heard);
  },
);
