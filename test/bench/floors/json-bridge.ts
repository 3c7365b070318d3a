// The floor: what a bridge costs that does nothing but pass the same messages on, JSON.parse in and JSON.stringify out, on bare
// `ws`. No VAD, no pacing, no ledger, no recording: the model's side detects speech and this one clears and truncates.
import { WebSocket, WebSocketServer } from 'ws';

const modelUrl = process.argv[2] ?? '';

interface CarrierMessage {
  event: string;
  start?: { streamSid: string };
  media?: { payload: string; timestamp: string };
  mark?: { name: string };
}
interface ModelMessage {
  type: string;
  delta?: string;
  item_id?: string;
}

function bridge(carrier: WebSocket): void {
  const model = new WebSocket(`${modelUrl}/realtime?model=bench`, {
    headers: { Authorization: 'Bearer sk-bench' },
    perMessageDeflate: false,
  });
  let streamSid = '';
  let item: string | null = null;
  let sent = 0;
  let played = 0;
  const toModel = (event: Record<string, unknown>) => {
    if (model.readyState === WebSocket.OPEN) model.send(JSON.stringify(event));
  };
  const toCarrier = (message: Record<string, unknown>) => carrier.send(JSON.stringify(message));

  model.on('open', () => {
    const input = { format: { type: 'audio/pcmu' }, turn_detection: { type: 'server_vad' } };
    const audio = { input, output: { format: { type: 'audio/pcmu' }, voice: 'marin' } };
    toModel({ type: 'session.update', session: { type: 'realtime', instructions: 'Be kind.', audio } });
  });
  model.on('message', (data) => {
    const event = JSON.parse(data.toString()) as ModelMessage;
    if (event.type === 'response.output_audio.delta' && event.delta !== undefined) {
      if (event.item_id !== item) {
        item = event.item_id ?? null;
        sent = 0;
        played = 0;
      }
      sent += (event.delta.length / 4) * 3;
      toCarrier({ event: 'media', streamSid, media: { payload: event.delta } });
      toCarrier({ event: 'mark', streamSid, mark: { name: String(Math.floor(sent / 8)) } });
    } else if (event.type === 'input_audio_buffer.speech_started' && item !== null) {
      toCarrier({ event: 'clear', streamSid });
      toModel({ type: 'conversation.item.truncate', item_id: item, content_index: 0, audio_end_ms: played });
      item = null;
    }
  });
  carrier.on('message', (data) => {
    const message = JSON.parse(data.toString()) as CarrierMessage;
    if (message.event === 'media')
      toModel({ type: 'input_audio_buffer.append', audio: message.media?.payload });
    else if (message.event === 'start') streamSid = message.start?.streamSid ?? '';
    else if (message.event === 'mark') played = Number(message.mark?.name);
  });
  carrier.on('close', () => model.terminate());
  carrier.on('error', () => model.terminate());
  model.on('error', (error) => console.error('json-bridge:', error.message));
  model.on('close', () => carrier.terminate());
}

const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
server.on('connection', bridge);
server.on('listening', () => {
  const address = server.address();
  process.send?.({ listening: typeof address === 'object' ? address?.port : 0 });
});
process.on('disconnect', () => process.exit(0));
