// @ts-check
// The changes of this session as a list; each leads back, or forward again, to itself.

import { Dialog } from './dialog.js';
import { html } from './lib.js';
import { takeIn } from './pending.js';
import { redo, state, undo } from './store.js';
import { arrows } from './ui.js';

/** @param {{onClose: () => void}} props */
export function History({ onClose }) {
	const { history, at } = /** @type {import('./types.js').State} */ (state.value).mapping;
	const go = async (/** @type {number} */ n) => (n < at ? await takeIn() && undo(n) : n > at && redo(n));
	return html`<${Dialog} title="Changes of this session" onClose=${onClose}>
		<p class="faint">Choose a line to go back to it, or forward again. What is undone stays in the list until you change something else.</p>
		<ol class="history" onKeyDown=${arrows('li button')}>${history.map((label, n) => html`<li key=${n} class=${n > at ? 'undone' : ''}>
			<button type="button" aria-current=${n === at ? 'step' : undefined} onClick=${() => go(n)}>${label}</button></li>`)}</ol>
	<//>`;
}
