// The dashboard's entry: asks who is signed in and shows what that allows.
import { html } from 'htm/preact';
import { render } from 'preact';

const root = document.getElementById('app');
if (root !== null) render(html`<main><h1>Offhook</h1></main>`, root);
