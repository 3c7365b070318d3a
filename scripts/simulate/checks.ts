// PURE. What must hold of a simulated call, each with one line of what was found. What concerns its sound is
// sound-checks.ts.
import { answersOf, bargeInsOf, type Evidence, pairLines, spokenOf, wordsOf } from './evidence.ts';
import { type Finding, found, plural, seconds, talks } from './finding.ts';
import { isLostLine, lineCameBack, wentOnWhereHeard } from './gap-checks.ts';
import { wentOnAfterKill } from './kill-checks.ts';
import { endingOf } from './picture-data.ts';
import { notedOptOut, saidFirst } from './said-checks.ts';
import { STAND_IN } from './scenarios.ts';
import { agentReachesCaller, callerReachesModel, framesComplete, recordingAgrees } from './sound-checks.ts';

export interface Check {
  name: string;
  ok: boolean;
  detail: string;
}

/** The words of a cut line are placed by an estimate in the daemon, which claims too few of them rather than too many. */
const CUT_WORDS_MORE = 2;
const CUT_SHARE_LESS = 1 / 3;

function reachedStatus({ call, scenario }: Evidence): Finding {
  const wanted = scenario.expected;
  const cause = call.hangup_cause ?? 'none';
  return found(
    [
      call.status !== wanted.status && `the call ended as ${call.status}, not ${wanted.status}`,
      call.error_code !== null && `error ${call.error_code}: ${call.error_message}`,
      wanted.hangupCause !== null &&
        !wanted.hangupCause.test(cause) &&
        `it ended because of "${cause}", which is not ${wanted.hangupCause.source}`,
    ],
    `${call.status}: ${endingOf(call)}`,
  );
}

function agreesWithPhone({ call, carrier, scenario }: Evidence): Finding {
  if (carrier === null) return found(['the call never reached the phone network'], '');
  const times = [call.created_at, call.started_at, call.answered_at, call.ended_at]
    .filter((time) => time !== null)
    .map((time) => Date.parse(time));
  const talked = carrier.answeredAtMs === null ? 0 : (carrier.endedAtMs ?? 0) - carrier.answeredAtMs;
  const said =
    call.answered_at === null || call.ended_at === null
      ? 0
      : Date.parse(call.ended_at) - Date.parse(call.answered_at);
  return found(
    [
      carrier.status.replace('-', '_') !== scenario.expected.status &&
        `the phone network says ${carrier.status}`,
      carrier.to !== call.to_number && `it was called ${carrier.to}, not ${call.to_number}`,
      carrier.from !== call.from_number && `it saw the caller ${carrier.from}, not ${call.from_number}`,
      times.some((time, i) => i > 0 && time < times[i - 1]!) &&
        'created, ringing, answered, ended are out of order',
      Math.abs(talked - said) > 3000 &&
        `${seconds(said)} of talk here, ${seconds(talked)} on the phone network's side`,
    ],
    carrier.answeredAtMs === null
      ? `both say ${call.status}, nobody picked up`
      : `both say ${call.status}, ${seconds(talked)} connected`,
  );
}

function eventsInOrder({ events, scenario }: Evidence): Finding {
  const bySequence = [...events].sort((a, b) => a.sequence - b.sequence);
  const sequences = bySequence.map(({ sequence }) => sequence);
  const types = bySequence.map(({ type }) => type);
  const wanted = scenario.expected.events;
  const last = bySequence.at(-1);
  return found(
    [
      types.join() !== wanted.join() &&
        `came ${types.join(', ') || 'none'}; expected were ${wanted.join(', ')}`,
      sequences.some((sequence, i) => sequence !== i + 1) &&
        `they count ${sequences.join(', ')}, with a gap or a repetition`,
      last !== undefined &&
        last.body.status !== scenario.expected.status &&
        `the last one shows the call as ${last.body.status}`,
      bySequence.some(({ type, body }) => type === 'call.completed' && body.result_status === 'pending') &&
        'call.completed came before the result was known',
    ],
    types.join(', '),
  );
}

function deliveriesSigned({ events, deliveries }: Evidence): Finding {
  const missing = deliveries.filter(({ id }) => !events.some((event) => event.id === id));
  const wrong = events.find((event) => event.signature_error !== null);
  const open = deliveries.find(({ status }) => status !== 'delivered');
  return found(
    [
      deliveries.length === 0 && 'there were no deliveries',
      missing.length > 0 && `${plural(missing.length, 'delivery', 'deliveries')} never arrived`,
      open !== undefined &&
        `the delivery of ${open.event_type} is ${open.status} (${open.last_error ?? 'no error'})`,
      deliveries.some(({ attempt_count }) => attempt_count !== 1) && 'some took more than one attempt',
      events.length !== new Set(events.map(({ id }) => id)).size && 'some arrived twice',
      events.length !== deliveries.length &&
        `${events.length} arrived of ${deliveries.length} that were sent`,
      wrong !== undefined && `the signature of ${wrong.type} is wrong: ${wrong.signature_error}`,
    ],
    `${plural(deliveries.length, 'webhook')}, each delivered at the first attempt, every signature right`,
  );
}

/** Words of `wanted` found in `got`, in order. */
function inCommon(wanted: readonly string[], got: readonly string[]): number {
  let row = new Array<number>(got.length + 1).fill(0);
  for (const word of wanted) {
    const next = [0];
    for (let i = 0; i < got.length; i++) {
      next.push(word === got[i] ? row[i]! + 1 : Math.max(row[i + 1]!, next[i]!));
    }
    row = next;
  }
  return row[got.length]!;
}

function wordsAgree(evidence: Evidence): Finding {
  const { scenario, transcript } = evidence;
  if (!talks(scenario)) return null;
  const said = scenario.speaks;
  const { message } = scenario.expected;
  const problems: (string | false)[] = [transcript.status !== 'final' && `it is ${transcript.status}`];
  const caller = transcript.data.filter(({ role }) => role === 'caller').map(({ text }) => text);
  const told: string[] = [];
  if (!message) {
    const wanted = said.flatMap(({ words }) => words.flatMap(([, , word]) => wordsOf(word)));
    const got = wordsOf(caller.join(' '));
    const common = inCommon(wanted, got);
    const unknown = said.some(({ unknownWords }) => unknownWords === true);
    if (unknown) {
      const known = said.filter(({ unknownWords }) => unknownWords !== true);
      const missing = known.filter(({ words }) => {
        const own = words.flatMap(([, , word]) => wordsOf(word));
        return inCommon(own, got) < own.length;
      });
      if (missing.length > 0) problems.push('words of the person are missing');
      if (!STAND_IN.test(caller.join(' '))) problems.push('nothing of the given recording was recognized');
      told.push('the words of the given recording are not known, and stand-ins mark its parts');
    } else {
      if (common < wanted.length || got.length > wanted.length) {
        problems.push(
          `the person said ${wanted.length} words; ${got.length} were written down, ${common} of them right`,
        );
      }
      told.push(`${common} of ${wanted.length} words of the person`);
    }
  }
  const pairs = pairLines(transcript.data, spokenOf(evidence));
  let lines = 0;
  for (const { line, item } of pairs) {
    if (line === null) {
      // Cut before anything of it was heard or written.
      if (item!.cutMs !== 0) problems.push(`the agent's "${item!.say.slice(0, 40)}" is missing`);
    } else if (item === null) {
      // A line cut before its first sound has no counterpart in what was sent.
      if (line.heard_text !== '') problems.push(`the agent never said "${line.text.slice(0, 40)}"`);
    } else if (!line.interrupted && line.text !== item.say) {
      problems.push(
        `the agent said "${item.say.slice(0, 40)}" and it was written as "${line.text.slice(0, 40)}"`,
      );
    } else lines++;
  }
  told.push(`${plural(lines, 'line')} of the agent`);
  return found(problems, told.join(', '));
}

function modelBelievesWhatWasHeard(evidence: Evidence): Finding {
  const { transcript, scenario } = evidence;
  if (!talks(scenario)) return null;
  const problems: string[] = [];
  const told: string[] = [];
  let lines = 0;
  let cut = 0;
  for (const { line, item } of pairLines(transcript.data, spokenOf(evidence))) {
    if (line === null || item === null) continue;
    lines++;
    const heard = wordsOf(line.heard_text);
    const believed = wordsOf(item.believed);
    const common = inCommon(heard, believed);
    const short = `"${line.text.slice(0, 30)}"`;
    if (line.interrupted) {
      cut++;
      told.push(`${heard.length} words count as heard and ${believed.length} are believed`);
      const fewest = Math.floor(believed.length * (1 - CUT_SHARE_LESS)) - CUT_WORDS_MORE;
      if (heard.length - common > CUT_WORDS_MORE || heard.length < fewest) {
        problems.push(
          `of ${short} ${plural(heard.length, 'word')} count as heard, and the model believes in ${believed.length}`,
        );
      }
      if (heard.length >= wordsOf(item.say).length)
        problems.push(`${short} counts as cut, yet all was heard`);
    } else if (common < Math.max(heard.length, believed.length)) {
      problems.push(`the model believes that it said "${item.believed.slice(0, 40)}"`);
    }
  }
  const cuts = told.length === 0 ? '' : ` (${told.join('; ')})`;
  return found(problems, `${plural(lines, 'line')}, ${cut} of them cut short${cuts}`);
}

function resultMatches({ scenario, call, transcript, refusedExtractions }: Evidence): Finding {
  const { result } = scenario.expected;
  const problems: (string | false)[] = refusedExtractions.map((why) => `the model refused: ${why}`);
  if (result === null) {
    const empty = Object.keys((call.returns as object | undefined) ?? {}).length === 0;
    return found(
      [
        ...problems,
        call.result !== null && `there should be none and it is ${JSON.stringify(call.result)}`,
        call.result_status !== (empty ? 'completed' : 'failed') && `it is ${call.result_status}`,
        !empty && call.result_error === null && 'it does not tell why there is none',
      ],
      empty ? 'none was asked for' : `none, because: ${call.result_error}`,
    );
  }
  const text = (role: string) =>
    transcript.data
      .filter((item) => item.role === role)
      .map(({ heard_text }) => heard_text)
      .join(' ');
  if (call.result_status !== 'completed') {
    problems.push(`it is ${call.result_status} (${call.result_error ?? 'no reason given'})`);
  }
  for (const [field, { value, saidBy, words }] of Object.entries(result)) {
    const got = call.result?.[field];
    if (got !== value) {
      problems.push(`${field} is ${JSON.stringify(got ?? null)} and should be ${JSON.stringify(value)}`);
    }
    if (!words.test(text(saidBy))) problems.push(`nobody heard what ${field} was taken from`);
  }
  return found(problems, JSON.stringify(call.result));
}

function toolAnswered({ scenario, toolRequests, transcript, sessions }: Evidence): Finding {
  const wanted = scenario.expected.tool;
  if (wanted === null) return null;
  const [first] = toolRequests;
  // In a recording of unknown words every turn is a question.
  const repeats = scenario.speaks.some(({ unknownWords }) => unknownWords === true);
  const output = sessions
    .flatMap(({ items }) => items)
    .find((item) => item.type === 'function_call_output')?.output;
  const lines = transcript.data.filter(({ role, text }) => role === 'tool' && text.includes(wanted.name));
  const missing = Object.values(wanted.answer).filter(
    (value) => !String(output ?? '').includes(String(value)),
  );
  return found(
    [
      (toolRequests.length === 0 || (toolRequests.length > 1 && !repeats)) &&
        `the program was asked ${toolRequests.length} times`,
      first !== undefined &&
        JSON.stringify(first.body) !== JSON.stringify(wanted.arguments) &&
        `it was asked with ${JSON.stringify(first.body)}`,
      missing.length > 0 && 'the model did not get its answer',
      lines.length !== toolRequests.length && `the transcript shows ${lines.length} uses of it`,
    ],
    `${wanted.name} ${JSON.stringify(wanted.arguments)} answered ${JSON.stringify(wanted.answer)}`,
  );
}

function bargeInWorked(evidence: Evidence): Finding {
  const { scenario, transcript, media } = evidence;
  if (!scenario.expected.bargeIn) return null;
  const cut = transcript.data.filter(
    ({ role, interrupted, heard_text, text }) =>
      role === 'agent' && interrupted && heard_text !== '' && heard_text.length < text.length,
  );
  const reactions = bargeInsOf(evidence);
  const slowest = Math.max(0, ...reactions.map(({ reactionMs }) => reactionMs));
  const line = cut[0];
  return found(
    [
      line === undefined && 'no line of the agent was cut while it was heard',
      line !== undefined && !line.text.startsWith(line.heard_text) && 'what was heard is not its beginning',
      reactions.length === 0 && "the person's voice never met the agent's",
      slowest > 1500 && `the agent talked on for ${seconds(slowest)}`,
      (media?.bargeIns ?? 0) === 0 && 'the daemon counted no barge-in',
    ],
    `silent after ${Math.round(slowest)} ms; ${wordsOf(line?.heard_text ?? '').length} of ${wordsOf(line?.text ?? '').length} words were heard`,
  );
}

/** What the person murmured and paused in changed nothing that he heard. */
function gaveAndTook({ scenario, turns, interruptions }: Evidence): Finding {
  if (!scenario.expected.giveAndTake) return null;
  const passed = interruptions.filter((one) => one.taken_back);
  const thrown = turns.reduce((sum, turn) => sum + turn.thrown_away, 0);
  return found(
    [
      passed.length === 0 && 'nothing said over the agent was let pass',
      thrown === 0 && 'no answer was begun in a pause and thrown away',
    ],
    `${plural(passed.length, 'sound')} let pass, ${plural(thrown, 'answer')} thrown away unheard`,
  );
}

function messageLeft({ scenario, carrier, transcript }: Evidence): Finding {
  if (!scenario.expected.message) return null;
  const box = carrier?.voicemail ?? null;
  if (carrier === null || box === null) return found(['the voicemail box never began to record'], '');
  const spurts = carrier.conversation?.agentSpurts ?? [];
  const early = spurts.filter(({ startMs }) => startMs < box.beepEndedMs);
  const spoken = transcript.data.filter(({ role }) => role === 'agent');
  const last = spoken.at(-1);
  return found(
    [
      box.messageStartMs === null && 'the box recorded nothing',
      early.length > 0 &&
        `the agent spoke ${seconds(box.beepEndedMs - early[0]!.startMs)} before the beep had ended`,
      (last === undefined || last.heard_text !== last.text || last.text === '') &&
        'it was not spoken to its end',
      spoken.some(({ interrupted, heard_text }) => interrupted && heard_text !== '') && 'it was cut',
    ],
    box.messageStartMs === null
      ? ''
      : `${seconds((box.messageEndMs ?? 0) - box.messageStartMs)} of message, begun ${seconds(box.messageStartMs - box.beepEndedMs)} after the beep`,
  );
}

function nothingRefused({ carrier, sessions, logErrors, scenario }: Evidence): Finding {
  const errors = carrier?.errors ?? [];
  // Lines that the scenario breaks are told as errors too.
  const unexpected = [
    ...errors.filter((error) => !isLostLine(error)),
    ...errors.filter(isLostLine).slice(scenario.expected.gaps),
  ];
  const violations = [
    ...(carrier?.violations ?? []).map(({ code, message }) => `phone network ${code}: ${message}`),
    ...unexpected.map(({ code, message }) => `phone network ${code}: ${message}`),
    ...sessions.flatMap((session) =>
      session.violations.map(({ code, message }) => `model ${code}: ${message}`),
    ),
    ...sessions.flatMap((session) =>
      session.events
        .filter(({ from, type }) => from === 'server' && type === 'error')
        .map(({ error }) => `model: ${(error as { message?: string } | undefined)?.message ?? 'error'}`),
    ),
  ];
  return found(
    [
      violations.length > 0 &&
        `${plural(violations.length, 'complaint')}: ${[...new Set(violations)].slice(0, 3).join('; ')}`,
      logErrors.length > 0 && `the daemon logged ${plural(logErrors.length, 'error')}: ${logErrors[0]}`,
      talks(scenario) &&
        sessions.length !== (scenario.expected.killed ? 2 : 1) &&
        `${sessions.length} sessions with the model instead of ${scenario.expected.killed ? 'two' : 'one'}`,
    ],
    'no complaint of the phone network, none of the model, no error in the log',
  );
}

/** Every check, in the order in which they are told. */
const CHECKS: readonly (readonly [name: string, look: (evidence: Evidence) => Finding])[] = [
  ['the call went as it should', reachedStatus],
  ['daemon and phone network tell the same', agreesWithPhone],
  ['events came complete and in order', eventsInOrder],
  ['webhooks arrived, once each, signed rightly', deliveriesSigned],
  ["the person's words reached the model", callerReachesModel],
  ["the agent's voice reached the person, whole and in order", agentReachesCaller],
  ['the recording holds both voices as the phone network had them', recordingAgrees],
  ['the transcript says what was said', wordsAgree],
  ['the model believes it said what was heard, no more', modelBelievesWhatWasHeard],
  ['the agent stopped when the person spoke', bargeInWorked],
  ['a murmur did not stop it, a pause was no end', gaveAndTook],
  ['the line broke, and came back within a second', lineCameBack],
  ['the agent went on at the last heard word, and nothing was lost', wentOnWhereHeard],
  ['the daemon was killed, and the call went on', wentOnAfterKill],
  ['what is said first was heard whole, whoever spoke over it', saidFirst],
  ['who asks not to be called again is not', notedOptOut],
  ['the message was left whole, after the beep', messageLeft],
  ['the tool was asked, and its answer was spoken', toolAnswered],
  ['the result is what was said', resultMatches],
  ['no frame of sound was lost', framesComplete],
  ['nobody broke a protocol, nothing was refused', nothingRefused],
];

/** Makes the checks that go with the call; with `only`, the one of that name. */
export function checkCall(evidence: Evidence, only?: string): Check[] {
  return CHECKS.flatMap(([name, look]) => {
    const finding = only === undefined || only === name ? look(evidence) : null;
    if (finding === null) return [];
    const problems = finding.problems.filter((problem) => typeof problem === 'string');
    const ok = problems.length === 0;
    return [{ name, ok, detail: ok ? finding.detail : problems.join('; ') }];
  });
}

/** The figures of a call for a table: one line of many. */
export function figuresOf(evidence: Evidence): { talkMs: number; answersMs: number[]; bargeIns: number } {
  const { carrier } = evidence;
  return {
    talkMs:
      carrier?.answeredAtMs == null || carrier.endedAtMs === null
        ? 0
        : carrier.endedAtMs - carrier.answeredAtMs,
    answersMs: answersOf(evidence).map(({ fromMs, toMs }) => toMs - fromMs),
    bargeIns: bargeInsOf(evidence).length,
  };
}
