// @ts-check
// The dialogs: the browser keeps the focus inside, Escape closes them, and what had the focus before has it again.

import { get } from './api.js';
import { Diff } from './file.js';
import { dialog, singleKeys } from './keys.js';
import { html, useEffect, useRef } from './lib.js';
import { takeIn } from './pending.js';
import { draft, redo, reload, save, state, undo } from './store.js';
import { Act, arrows, useLoaded } from './ui.js';

/** The dialog that is open. */
export function OpenDialog() {
	const onClose = () => { dialog.value = ''; };
	switch (dialog.value) {
		case '': return null;
		case 'keys': return html`<${Keys} onClose=${onClose} />`;
		case 'history': return html`<${History} onClose=${onClose} />`;
		default: return html`<${Compare} of=${dialog.value} onClose=${onClose} />`;
	}
}

/** @param {{title: string, onClose: () => void, wide?: boolean, close?: {current: () => void}, children?: any}} props close gets how to close it */
function Dialog({ title, onClose, wide = false, close, children }) {
	const box = useRef();
	useEffect(() => {
		const before = document.activeElement;
		box.current.showModal();
		if (close) close.current = () => box.current?.close();
		return () => { if (before instanceof HTMLElement && before.isConnected) before.focus(); };
	}, []);
	const outside = (/** @type {Event} */ e) => { if (e.target === box.current) box.current.close(); };
	return html`<dialog ref=${box} class=${wide ? 'wide-dialog' : ''} aria-labelledby="dialog-title" onClose=${onClose} onClick=${outside}>
		<header><h2 id="dialog-title">${title}</h2>
			<button type="button" class="quiet" aria-label="Close" onClick=${() => box.current.close()}>✕</button></header>
		<div class="dialog-body">${children}</div>
	</dialog>`;
}

/** The changes of this session as a list; each leads back, or forward again, to itself. @param {{onClose: () => void}} props */
function History({ onClose }) {
	const { history, at } = /** @type {import('./types.js').State} */ (state.value).mapping;
	const go = async (/** @type {number} */ n) => (n < at ? await takeIn() && undo(n) : n > at && redo(n));
	return html`<${Dialog} title="Changes of this session" onClose=${onClose}>
		<p class="faint">Choose a line to go back to it, or forward again. What is undone stays in the list until you change something else.</p>
		<ol class="history" onKeyDown=${arrows('li button')}>${history.map((label, n) => html`<li key=${n} class=${n > at ? 'undone' : ''}>
			<button type="button" aria-current=${n === at ? 'step' : undefined} onClick=${() => go(n)}>${label}</button></li>`)}</ol>
	<//>`;
}

/** Two states of the file of which one has to be chosen. @param {{of: 'disk'|'draft', onClose: () => void}} props disk is the file that another program changed; draft is what was left unsaved */
function Compare({ of, onClose }) {
	const { mapping, version } = /** @type {import('./types.js').State} */ (state.value);
	const asked = useLoaded((signal) => get('diff', { with: of }, signal), [of, version]);
	const close = useRef(() => {});
	const choose = (/** @type {() => Promise<boolean>} */ does) => async () => { if (await does()) close.current(); };
	const isDisk = of === 'disk';
	return html`<${Dialog} wide=${true} title=${isDisk ? `${mapping.path} was changed by another program` : 'Changes of last time, not saved'} onClose=${onClose} close=${close}>
		<p>${isDisk ? html`Green lines are only in the file on the disk, red lines are only here.` : html`Green lines are what was left unsaved, red lines are only here.`}</p>
		<${Diff} asked=${asked} title="The difference" nothing="Both say the same." />
		<div class="actions">${isDisk
			? html`<${Act} onAct=${choose(reload)}>Take theirs<//><${Act} onAct=${choose(() => save(true))}>Keep mine<//>
				<span class="faint">“Take theirs” can be undone. “Keep mine” writes over the file.</span>`
			: html`<${Act} onAct=${choose(() => draft(true))}>Take them up<//><${Act} onAct=${choose(() => draft(false))}>Drop them<//>
				<span class="faint">“Take them up” can be undone. “Drop them” cannot.</span>`}</div>
	<//>`;
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
function Keys({ onClose }) {
	const set = (/** @type {any} */ e) => { singleKeys.value = e.target.checked; sessionStorage.setItem('single-keys', e.target.checked ? 'on' : 'off'); };
	return html`<${Dialog} title="Keys" onClose=${onClose}>
		<div class="keys">${overview.map(([title, list]) => html`<section><h3>${title}</h3>
			<dl>${list.map(([key, what]) => html`<div><dt><kbd>${key}</kbd></dt><dd>${what}</dd></div>`)}</dl></section>`)}</div>
		<p><label class="check"><input type="checkbox" checked=${singleKeys.value}
			onChange=${set} /> Single keys (1 – 7, h, / and ?) do something</label></p>
	<//>`;
}
