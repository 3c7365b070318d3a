// What the reference does in a browser beside being read: it finds, copies, and shows examples in one language. Without it all of
// the page is there all the same. It asks nobody for anything.

/** Runs inline, known to the page's policy by its hash; no character sequence in it looks like a tag. */
export const SCRIPT = `
(() => {
  const root = document.documentElement;
  const keep = (name, value) => { try { if (value === undefined) return localStorage.getItem(name); localStorage.setItem(name, value); } catch { return null; } };
  const theme = keep('offhook-theme');
  if (theme === 'light' || theme === 'dark') root.dataset.theme = theme;
  const make = (name, o) => Object.assign(document.createElement(name), o);
  addEventListener('DOMContentLoaded', () => {
    const find = document.querySelector('.find');
    const input = find.querySelector('input');
    const found = document.getElementById('found');
    const contents = document.getElementById('contents');
    find.hidden = false;

    const show = (language) => {
      root.dataset.code = language;
      for (const one of find.querySelectorAll('[name=language]')) one.checked = one.value === language;
    };
    show(keep('offhook-docs-code') === 'ts' ? 'ts' : 'curl');
    find.addEventListener('change', ({ target }) => {
      if (target.name !== 'language') return;
      const top = document.elementFromPoint(innerWidth * 0.6, 80)?.closest('.op');
      show(target.value);
      keep('offhook-docs-code', target.value);
      top?.scrollIntoView();
    });

    const copy = async (button, text) => {
      try {
        await navigator.clipboard.writeText(text);
        button.textContent = 'Copied';
      } catch {
        getSelection().selectAllChildren(button.previousElementSibling);
        button.textContent = 'Selected';
      }
      setTimeout(() => { button.textContent = 'Copy'; }, 2000);
    };
    for (const pre of document.querySelectorAll('main pre')) {
      let box = pre.parentElement;
      if (!box.classList.contains('code')) {
        box = make('div', { className: 'code' });
        pre.replaceWith(box);
        box.append(pre);
      }
      pre.tabIndex = 0;
      const button = make('button', { type: 'button', textContent: 'Copy' });
      button.setAttribute('aria-label', 'Copy this example');
      button.addEventListener('click', () => copy(button, pre.textContent));
      box.append(button);
    }

    // What can be found: headings with the text below them, and rows that have a name.
    let places = null;
    const gather = () => {
      const all = [];
      for (const head of document.querySelectorAll('main h2[id], main h3[id]')) {
        const below = [];
        const op = head.closest('.op');
        for (let next = head.nextElementSibling; next !== null && !/^H[23]$/.test(next.tagName) && !next.classList.contains('op'); next = next.nextElementSibling) {
          const cells = [...next.querySelectorAll('td, p, pre')];
          below.push(...(cells.length > 0 ? cells : [next]).map((one) => one.textContent));
        }
        const text = below.join(' ');
        all.push({ id: head.id, head: head.textContent, about: op?.querySelector('b')?.textContent ?? '', text });
      }
      for (const row of document.querySelectorAll('main tr[id]'))
        all.push({ id: row.id, head: row.cells[1].textContent, about: '', text: row.cells[2].textContent });
      return all;
    };
    const score = ({ id, head, about, text }, words) => {
      const name = (head + ' ' + id).toLowerCase();
      let sum = 0;
      for (const word of words) {
        const one = name.includes(word) ? 8 : about.toLowerCase().includes(word) ? 4 : text.toLowerCase().includes(word) ? 1 : 0;
        if (one === 0) return 0;
        sum += one;
      }
      return sum;
    };
    // The words around what was found, where its own summary says nothing of it.
    const around = ({ about, text }, words) => {
      const at = Math.max(0, text.toLowerCase().indexOf(words[0]));
      if (about !== '') return about;
      const from = at > 40 ? text.indexOf(' ', at - 40) + 1 : 0;
      return (from > 0 ? '… ' : '') + text.slice(from, from + 110) + (text.length > from + 110 ? ' …' : '');
    };
    const look = () => {
      const words = input.value.toLowerCase().split(/\\s+/).filter((word) => word !== '');
      contents.hidden = words.length > 0;
      found.hidden = words.length === 0;
      if (words.length === 0) return;
      places ??= gather();
      const list = places.map((place) => ({ place, points: score(place, words) })).filter(({ points }) => points > 0);
      list.sort((a, b) => b.points - a.points);
      found.replaceChildren(...list.slice(0, 30).map(({ place }) => {
        const link = make('a', { href: '#' + place.id, textContent: place.head });
        link.append(make('small', { textContent: around(place, words) }));
        return link;
      }));
      if (list.length === 0) found.textContent = 'Nothing fits.';
    };
    input.addEventListener('input', look);
    input.addEventListener('keydown', (event) => {
      if (event.key === 'Enter') found.querySelector('a')?.click();
      if (event.key === 'Escape') { input.value = ''; look(); input.blur(); }
      if (event.key === 'ArrowDown') { event.preventDefault(); found.querySelector('a')?.focus(); }
    });
    found.addEventListener('keydown', (event) => {
      const at = document.activeElement;
      const to = { ArrowDown: at.nextElementSibling, ArrowUp: at.previousElementSibling ?? input }[event.key];
      if (to) { event.preventDefault(); to.focus(); }
    });
    addEventListener('keydown', (event) => {
      const short = event.key === '/' || (event.key === 'k' && (event.ctrlKey || event.metaKey));
      if (!short || document.activeElement === input) return;
      event.preventDefault();
      input.focus();
      input.select();
    });
  });
})();
`;
