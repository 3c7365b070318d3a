// The words of one call while it lasts, all of them: for whoever looks at that call alone.
import { useEffect, useState } from 'preact/hooks';
import type { CallGap, TranscriptItem } from '../../../sdk/index.ts';
import { api } from '../api.ts';
import { merged } from '../live-state.ts';
import { onLive, stream } from '../live-stream.ts';

const LOOK_MS = 2_000;

interface Words {
  items: readonly TranscriptItem[];
  gaps: readonly CallGap[];
}

/**
 * The words of a call as they come, and where it had no sound: by the live stream, by asking while that is lost, and once more
 * at the end.
 */
export function useFollowedWords(callId: string | null, over: boolean): Words {
  const [items, setItems] = useState<readonly TranscriptItem[]>([]);
  const [gaps, setGaps] = useState<readonly CallGap[]>([]);
  const add = (news: readonly TranscriptItem[]) => setItems((known) => merged(known, news));
  const lost = stream.value.state !== 'open';
  useEffect(() => {
    setItems([]);
    setGaps([]);
  }, [callId]);
  useEffect(() => {
    if (callId === null) return;
    return onLive((event) => {
      if (event.type === 'words' && event.data.call_id === callId) add([event.data.item]);
      else if (event.type === 'call' && event.data.id === callId) {
        add(event.data.words);
        setGaps(event.data.gaps);
      } else if (event.type === 'snapshot')
        add(event.data.calls.find((call) => call.id === callId)?.words ?? []);
    });
  }, [callId]);
  useEffect(() => {
    if (callId === null) return;
    let left = false;
    const look = () =>
      void api.calls.transcript(callId).then(
        ({ data }) => {
          if (!left) add(data);
        },
        // The stream or the next look brings them.
        () => {},
      );
    look();
    // The last words are written down a moment after the end; while the stream is lost, asking stands in for it.
    const timer = over || lost ? setInterval(look, LOOK_MS) : undefined;
    const enough = over ? setTimeout(() => clearInterval(timer), 4 * LOOK_MS) : undefined;
    return () => {
      left = true;
      clearInterval(timer);
      clearTimeout(enough);
    };
  }, [callId, over, lost]);
  return { items, gaps };
}
