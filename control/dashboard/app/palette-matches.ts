// What a few typed letters may mean: pages, agents, things to do. Order by how well they fit. PURE.

export interface Target {
  /** What is shown and matched. */
  label: string;
  /** Matched too, with less weight. */
  also?: string;
  href: string;
  kind: 'page' | 'agent' | 'call';
}

/** How well `text` begins with or has the typed words; 0: not at all. */
function fit(typed: string, text: string): number {
  const words = text.toLowerCase();
  if (words === typed) return 4;
  if (words.startsWith(typed)) return 3;
  if (words.split(/[^\p{L}\p{N}]+/u).some((word) => word.startsWith(typed))) return 2;
  return words.includes(typed) ? 1 : 0;
}

/** Those that fit all of what was typed, the best first; without anything typed, all of them as they stand. */
export function fitting(typed: string, targets: readonly Target[], most: number): Target[] {
  const parts = typed.trim().toLowerCase().split(/\s+/);
  if (typed.trim() === '') return targets.slice(0, most);
  return targets
    .map((target, at) => {
      const scores = parts.map((part) => Math.max(2 * fit(part, target.label), fit(part, target.also ?? '')));
      return { target, at, score: scores.includes(0) ? 0 : scores.reduce((sum, one) => sum + one, 0) };
    })
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || a.at - b.at)
    .slice(0, most)
    .map(({ target }) => target);
}

/** The one call that is named by its id. */
export function callById(typed: string): string | null {
  const id = typed.trim().toLowerCase();
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id) ? id : null;
}

/** Whether a key pressed at this place is meant for what is being typed there. */
export function isTyping(
  place: { tagName?: string; type?: string; isContentEditable?: boolean } | null,
): boolean {
  if (place === null) return false;
  if (place.isContentEditable === true || place.tagName === 'TEXTAREA' || place.tagName === 'SELECT')
    return true;
  return (
    place.tagName === 'INPUT' &&
    !['checkbox', 'radio', 'range', 'button', 'submit'].includes(place.type ?? 'text')
  );
}
