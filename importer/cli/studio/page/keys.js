// @ts-check
// The keys of the whole page, and the overview of them. Single keys can be switched off for people whose software types for them.

import { Dialog } from './dialog.js';
import { html, signal } from './lib.js';
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

const singleKeys = signal(sessionStorage.getItem('single-keys') !== 'off');

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

/** @type {[string, [string, string][]][]} */
const overview = [
	['Everywhere', [
		['1 – 7', 'the views, in the order of the menu'], ['Ctrl+S', 'save the mapping, with what you are typing'], ['Ctrl+Z', 'undo'], ['Ctrl+Y', 'redo'],
		['h', 'the changes of this session'], ['/', 'find'], ['? or F1', 'this overview'], ['Tab', 'the next field or button'],
	]],
	['In lists', [['↑ ↓ Home End', 'from one line to the next'], ['Enter', 'the details of the line'], ['Esc', 'close the details, back to the line']]],
	['In the details', [
		['Ctrl+Enter', 'use what you changed'], ['↓ in a field with a list', 'open the list; type to find, Enter picks, Esc closes'],
		['← → in a row of choices', 'the next choice'],
	]],
	['In the rows', [
		['↑ ↓ ← →', 'from cell to cell'], ['Page Up, Page Down', 'a screen up or down'], ['Home, End', 'the first and the last column'],
		['Ctrl+Home, Ctrl+End', 'the first and the last row'], ['n', 'the next row with errors'], ['Enter', 'what is sent for the client of this row'],
	]],
];

/** @param {{onClose: () => void}} props */
export function Keys({ onClose }) {
	const set = (/** @type {any} */ e) => { singleKeys.value = e.target.checked; sessionStorage.setItem('single-keys', e.target.checked ? 'on' : 'off'); };
	return html`<${Dialog} title="Keys" onClose=${onClose}>
		<div class="keys">${overview.map(([title, list]) => html`<section><h3>${title}</h3>
			<dl>${list.map(([key, what]) => html`<div><dt><kbd>${key}</kbd></dt><dd>${what}</dd></div>`)}</dl></section>`)}</div>
		<p><label class="check"><input type="checkbox" checked=${singleKeys.value}
			onChange=${set} /> Single keys (1 – 7, h, / and ?) do something</label></p>
	<//>`;
}
