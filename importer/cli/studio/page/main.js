// @ts-check
// Starts the page: draws the shell, keeps asking the server for its state, and listens to the keys of the whole page.

import { html, render } from './lib.js';
import { keepFocus } from './focus.js';
import { Shell } from './shell.js';
import { follow, redo, save, undoTyped } from './store.js';

render(html`<${Shell} />`, /** @type {HTMLElement} */ (document.getElementById('page')));
keepFocus();
follow();

/** What a key with Ctrl does; those that a text field has for itself are left to it.
 * @param {KeyboardEvent} e @returns {(() => any)|undefined} */
function withControl(e) {
	const key = e.key.toLowerCase();
	if (key === 's') return () => { if (!e.repeat) save(); };
	if (/** @type {Element} */ (e.target).matches('input:not([type=radio]):not([type=checkbox]), textarea')) return undefined;
	if (key === 'z' && !e.shiftKey) return undoTyped;
	return key === 'y' || key === 'z' ? () => redo() : undefined;
}

addEventListener('keydown', (e) => {
	const act = (e.ctrlKey || e.metaKey) && !e.defaultPrevented && !e.altKey ? withControl(e) : undefined; // Alt types signs on some keyboards
	if (!act) return;
	e.preventDefault();
	act();
});
