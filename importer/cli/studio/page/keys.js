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
export const dialog = signal(/** @type {''|'keys'|'history'|'disk'|'draft'} */ (''));

export const singleKeys = signal(sessionStorage.getItem('single-keys') !== 'off');

/** Listens to the keys of the whole page; returns how to stop. */
export function listen() {
	const pressed = (/** @type {KeyboardEvent} */ e) => {
		const isOver = document.querySelector('dialog[open]') !== null;
		if (e.defaultPrevented || (isOver && !(e.ctrlKey || e.metaKey))) return;
		const typing = e.target instanceof Element && e.target.matches('input:not([type=radio]):not([type=checkbox]), select, textarea');
		const done = e.ctrlKey || e.metaKey ? withControl(e, typing && !e.target.matches('select')) : !e.altKey && !typing && (e.key === 'F1' || singleKeys.value) && single(e);
		if (done) e.preventDefault();
	};
	addEventListener('keydown', pressed);
	return () => removeEventListener('keydown', pressed);
}

/** @param {KeyboardEvent} e @param {boolean} typing @returns {boolean} */
function withControl(e, typing) {
	const key = e.key.toLowerCase();
	if (e.altKey) return false; // on some keyboards that is how signs are typed
	if (key === 's') { if (!e.repeat) save(); return true; }
	if (typing) return false;
	if (key === 'z' && !e.shiftKey) { undoTyped(); return true; }
	if (key === 'y' || key === 'z') { redo(); return true; }
	return false;
}

/** Takes back the last change; what is being typed is one. */
export async function undoTyped() {
	if (await takeIn()) undo();
}

/** @param {KeyboardEvent} e @returns {boolean} */
function single(e) {
	const view = views[Number(e.key) - 1];
	if (view) { go(view[0]); return true; }
	switch (e.key) {
		case '?': case 'F1': dialog.value = 'keys'; return true;
		case 'h': dialog.value = 'history'; return true;
		case '/': { const field = /** @type {HTMLElement|null} */ (document.querySelector('[data-find]')); field?.focus(); return field !== null; }
		default: return false;
	}
}
