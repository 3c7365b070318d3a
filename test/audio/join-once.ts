// A process for the kill test: says that it begins, joins the parts that it is given, and ends.
import { writeSync } from 'node:fs';
import { joinRecordings, type RecordingPart } from '../../audio/recording-join.ts';

const { parts, out } = JSON.parse(process.argv[2] ?? '') as { parts: RecordingPart[]; out: string };
writeSync(1, 'begins\n');
await joinRecordings(parts, out);
