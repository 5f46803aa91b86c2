// @ts-check
// The keys of the whole page.

import { takeIn } from './pending.js';
import { redo, save, undo } from './store.js';

/** Takes back the last change; what is being typed is one. */
export const undoTyped = async () => { if (await takeIn()) undo(); };

/** What a key with Ctrl does; those that a text field has for itself are left to it.
 * @param {KeyboardEvent} e @returns {(() => any)|undefined} */
function withControl(e) {
	const key = e.key.toLowerCase();
	if (key === 's') return () => { if (!e.repeat) save(); };
	if (/** @type {Element} */ (e.target).matches('input:not([type=radio]):not([type=checkbox]), textarea')) return undefined;
	if (key === 'z' && !e.shiftKey) return undoTyped;
	return key === 'y' || key === 'z' ? () => redo() : undefined;
}

/** Listens to the keys of the whole page. */
export function listen() {
	addEventListener('keydown', (e) => {
		const act = (e.ctrlKey || e.metaKey) && !e.defaultPrevented && !e.altKey ? withControl(e) : undefined; // Alt types signs on some keyboards
		if (!act) return;
		e.preventDefault();
		act();
	});
}
