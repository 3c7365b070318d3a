// How the reference looks: the dashboard's colours and typeface, on a page of its own. PURE.

/** @param face where the typeface is */
export const styleOf = (face: string) => `
@font-face { font-family: "Inter Variable"; font-weight: 100 900; font-display: swap; src: url(${face}) format("woff2"); }
:root {
  color-scheme: light dark; scroll-padding-top: 1rem;
  --text: light-dark(#1a2030, #e6e9f0); --dim: light-dark(#576074, #9aa4b8); --line: light-dark(#dfe3ea, #2b3240);
  --strong: light-dark(#868fa0, #69748a); --back: light-dark(#fff, #11141a); --side: light-dark(#f6f7f9, #181c24);
  --block: light-dark(#f2f4f8, #1a1f29); --link: light-dark(#3a4fc4, #92a3ff); --soft: light-dark(#e9ecfb, #242b4a);
  --get: light-dark(#14713c, #5fcf8e); --post: light-dark(#3a4fc4, #92a3ff); --patch: light-dark(#8a5300, #eab457); --delete: light-dark(#b3261e, #ff8f87);
}
:root[data-theme="light"] { color-scheme: light; }
:root[data-theme="dark"] { color-scheme: dark; }
* { box-sizing: border-box; }
body { margin: 0; color: var(--text); background: var(--back); font: 14.5px/1.55 "Inter Variable", system-ui, sans-serif; }
nav { position: fixed; inset: 0 auto 0 0; width: 18rem; overflow-y: auto; padding: 1rem 1rem 2rem; background: var(--side); border-right: 1px solid var(--line); font-size: 13.5px; }
nav ul { list-style: none; margin: .25rem 0 1rem; padding: 0; }
nav b { display: block; font-weight: 620; }
nav a { display: block; padding: .12rem .4rem; border-radius: 4px; color: var(--dim); overflow-wrap: anywhere; }
nav b a { color: var(--text); }
nav a:hover { background: var(--soft); color: var(--text); text-decoration: none; }
.top { display: flex; align-items: center; justify-content: space-between; gap: .5rem; margin: 0 0 .75rem; padding: 0 .4rem; font-weight: 650; font-size: 15px; }
.top a { display: inline; padding: 0; font-size: 13px; font-weight: 500; }
.find { position: sticky; top: -1rem; z-index: 2; margin: 0 -1rem; padding: 1rem 1rem .75rem; background: var(--side); }
.find input { width: 100%; min-height: 34px; padding: .3rem .6rem; font: inherit; color: inherit; background: var(--back); border: 1px solid var(--strong); border-radius: 5px; }
.find input::placeholder { color: var(--dim); }
.languages { display: flex; gap: .25rem 1rem; align-items: center; flex-wrap: wrap; margin: .6rem 0 0; padding: 0; border: 0; color: var(--dim); }
.languages legend { float: left; padding: 0 .6rem 0 0; }
.languages label { display: inline-flex; align-items: center; gap: .35rem; cursor: pointer; }
#found a { padding: .35rem .4rem; border-bottom: 1px solid var(--line); border-radius: 0; color: var(--text); }
#found small { display: block; color: var(--dim); }
#found a[aria-current] { background: var(--soft); }
main { margin-left: 18rem; padding: 2rem 2.5rem 6rem; max-width: 84rem; }
a { color: var(--link); text-decoration: none; }
a:hover, main :is(p, td, li) a { text-decoration: underline; text-underline-offset: 2px; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; border-radius: 3px; }
h1, h2, h3, h4 { line-height: 1.25; overflow-wrap: anywhere; letter-spacing: -.01em; }
h1 { font-size: 1.7rem; margin: 0 0 .5rem; }
h2 { font-size: 1.35rem; margin-top: 4rem; padding-bottom: .4rem; border-bottom: 1px solid var(--line); }
h3 { font-size: 1.05rem; margin-top: 3rem; }
h4 { margin: 1.5rem 0 .4rem; font-size: .95rem; }
h2 a, h3 a { color: inherit; }
code, pre { font-family: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, monospace; font-size: 12.5px; }
code { background: var(--block); padding: .1em .3em; border-radius: 3px; overflow-wrap: anywhere; }
pre { margin: .75rem 0; background: var(--block); padding: .8rem 1rem; border: 1px solid var(--line); border-radius: 7px; overflow-x: auto; max-height: 34rem; }
pre code { padding: 0; background: none; overflow-wrap: normal; }
.code { position: relative; }
.code button { position: absolute; top: .4rem; right: .4rem; padding: .15rem .6rem; font: inherit; font-size: 12px; color: var(--dim); background: var(--back); border: 1px solid var(--line); border-radius: 4px; cursor: pointer; }
.code button:hover { color: var(--text); border-color: var(--strong); }
:root[data-code="curl"] .code.ts, :root[data-code="ts"] .code.curl:has(+ .code.ts) { display: none; }
blockquote { margin: 1rem 0; padding-left: 1rem; border-left: 3px solid var(--line); }
table { width: 100%; border-collapse: collapse; }
th, td { padding: .45rem .75rem .45rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th { color: var(--dim); font-weight: 520; font-size: 13px; }
.dim { color: var(--dim); }
.method { display: inline-block; min-width: 3.6em; font: 600 .8em ui-monospace, monospace; color: var(--dim); }
.method.get { color: var(--get); }
.method.post, .method.put { color: var(--post); }
.method.patch { color: var(--patch); }
.method.delete { color: var(--delete); }
.wide { overflow-x: auto; }
@media (min-width: 82rem) {
  .op { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 30rem); gap: 0 2.5rem; align-items: start; }
  .op > h3 { grid-column: 1 / -1; }
  .op-code { position: sticky; top: 1rem; }
}
@media (max-width: 60rem) {
  nav { position: static; width: auto; border-right: 0; border-bottom: 1px solid var(--line); }
  .find { position: static; }
  main { margin-left: 0; padding: 1rem; }
}
@media (pointer: coarse) { nav a { padding-block: .35rem; } }
`;
