// @ts-check
// Starts the page: draws the shell, keeps asking the server for its state, and listens to the keys of the whole page.

import { html, render } from './lib.js';
import { keepFocus } from './focus.js';
import { Shell } from './shell.js';
import { follow, redo, save, takeIn, undo } from './store.js';

render(html`<${Shell} />`, /** @type {HTMLElement} */ (document.getElementById('page')));
keepFocus();
follow();

// A field of text has its own Ctrl+Z and Ctrl+Y.
addEventListener('keydown', (e) => {
	const isTyping = /** @type {Element} */ (e.target).matches('input:not([type=radio], [type=checkbox]), textarea'), key = e.key.toLowerCase();
	const act = { s: save, enter: takeIn }[key] || (isTyping ? undefined : { z: e.shiftKey ? redo : undo, y: redo }[key]);
	if (!act || !(e.ctrlKey || e.metaKey) || e.altKey || e.defaultPrevented) return; // Alt types signs on some keyboards
	e.preventDefault();
	if (!e.repeat) act();
});
