// @ts-check
// The dialogs: the browser keeps the focus inside, Escape closes them, and what had the focus before has it again.

import { dialog, singleKeys } from './keys.js';
import { html, useEffect, useRef } from './lib.js';
import { takeIn } from './pending.js';
import { current, redo, undo } from './store.js';
import { arrows } from './ui.js';

/** The dialog that is open. */
export const OpenDialog = () => ({ '': null, keys: html`<${Keys} />`, history: html`<${History} />` })[dialog.value];

const close = () => /** @type {HTMLDialogElement|null} */ (document.querySelector('dialog'))?.close();

/** @param {{title: string, children?: any}} props */
function Dialog({ title, children }) {
	const box = useRef();
	useEffect(() => {
		const before = document.activeElement;
		box.current.showModal();
		return () => { if (before instanceof HTMLElement && before.isConnected) before.focus(); };
	}, []);
	return html`<dialog ref=${box} aria-labelledby="dialog-title" onClose=${() => { dialog.value = ''; }}
		onClick=${(e) => { if (e.target === box.current) close(); }}>
		<header><h2 id="dialog-title">${title}</h2><button type="button" class="quiet" aria-label="Close" onClick=${close}>✕</button></header>
		<div class="dialog-body">${children}</div>
	</dialog>`;
}

/** The changes of this session as a list; each leads back, or forward again, to itself. */
function History() {
	const { history, at } = current().mapping;
	const go = async (n) => (n < at ? await takeIn() && undo(n) : n > at && redo(n));
	return html`<${Dialog} title="Changes of this session">
		<p class="faint">Choose a line to go back to it, or forward again. What is undone stays in the list until you change something else.</p>
		<ol class="history" onKeyDown=${arrows('li button')}>${history.map((label, n) => html`<li key=${n} class=${n > at ? 'undone' : ''}>
			<button type="button" aria-current=${n === at ? 'step' : undefined} onClick=${() => go(n)}>${label}</button></li>`)}</ol>
	<//>`;
}

/** @type {[string, [string, string][]][]} */
const overview = [
	['Everywhere', [
		['1 – 7', 'the views, in the order of the menu'], ['Ctrl+S', 'save the mapping, with what you are typing'], ['Ctrl+Z', 'undo'], ['Ctrl+Y', 'redo'],
		['h', 'the changes of this session'], ['? or F1', 'this overview'], ['Tab', 'the next field or button'],
	]],
	['In lists', [['↑ ↓ Home End', 'from one line to the next'], ['Enter', 'the details of the line'], ['Esc', 'close the details, back to the line']]],
	['In the details', [['Ctrl+Enter', 'use what you changed'], ['↓ in a field with a list', 'open the list; type to find, Enter picks, Esc closes']]],
	['In the rows', [
		['↑ ↓ ← →', 'from cell to cell'], ['Page Up, Page Down', 'a screen up or down'], ['Home, End', 'the first and the last column'],
		['Ctrl+Home, Ctrl+End', 'the first and the last row'], ['n', 'the next row with errors'], ['Enter', 'what is sent for the client of this row'],
	]],
];

function Keys() {
	const set = (e) => { singleKeys.value = e.target.checked; sessionStorage.setItem('single-keys', e.target.checked ? 'on' : 'off'); };
	return html`<${Dialog} title="Keys">
		<div class="keys">${overview.map(([title, list]) => html`<section><h3>${title}</h3>
			<dl>${list.map(([key, what]) => html`<div><dt><kbd>${key}</kbd></dt><dd>${what}</dd></div>`)}</dl></section>`)}</div>
		<p><label class="check"><input type="checkbox" checked=${singleKeys.value} onChange=${set} /> Single keys (1 – 7, h and ?) do something</label></p>
	<//>`;
}
