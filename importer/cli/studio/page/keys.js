// @ts-check
// The keys of the whole page. Single keys can be switched off for people whose software types for them.

import { signal } from './lib.js';
import { go } from './route.js';
import { takeIn } from './pending.js';
import { redo, save, undo } from './store.js';

/** The views in their order; the place is the key. @type {[string, string][]} */
export const views = [
	['columns', 'Columns'], ['targets', 'Fields of the service'], ['rows', 'Rows'], ['client', 'One client'], ['try', 'Try it'],
	['file', 'The file'], ['sheet', 'The sheet'],
];

/** The dialog that is open. */
export const dialog = signal(/** @type {''|'keys'|'history'} */ (''));

export const singleKeys = signal(sessionStorage.getItem('single-keys') !== 'off');

/** Takes back the last change; what is being typed is one. */
export const undoTyped = async () => { if (await takeIn()) undo(); };

/** What the keys with Ctrl do; those that a text field has for itself are left to it.
 * @param {KeyboardEvent} e @param {boolean} isText @returns {(() => any)|undefined} */
function withControl(e, isText) {
	const key = e.key.toLowerCase();
	if (key === 's') return () => { if (!e.repeat) save(); };
	if (isText) return undefined;
	if (key === 'z' && !e.shiftKey) return undoTyped;
	return key === 'y' || key === 'z' ? () => redo() : undefined;
}

/** What single keys do. @param {string} key @returns {(() => any)|undefined} */
function single(key) {
	const [view] = views[Number(key) - 1] || [];
	if (view) return () => go(view);
	if (key === '?' || key === 'F1') return () => { dialog.value = 'keys'; };
	return key === 'h' ? () => { dialog.value = 'history'; } : undefined;
}

/** Listens to the keys of the whole page. */
export function listen() {
	addEventListener('keydown', (e) => {
		const isControl = e.ctrlKey || e.metaKey, at = /** @type {Element} */ (e.target);
		if (e.defaultPrevented || e.altKey || (!isControl && document.querySelector('dialog[open]'))) return; // Alt types signs on some keyboards
		const isText = at.matches('input:not([type=radio]):not([type=checkbox]), textarea');
		const isOn = !isText && !at.matches('select') && (e.key === 'F1' || singleKeys.value);
		const act = isControl ? withControl(e, isText) : isOn ? single(e.key) : undefined;
		if (!act) return;
		e.preventDefault();
		act();
	});
}
