// @ts-check
// The changes of this session as a dialog: the browser keeps the focus inside, Escape closes it, and what had the focus before has it again.

import { html, signal, useEffect, useRef } from './lib.js';
import { takeIn } from './pending.js';
import { current, redo, undo } from './store.js';
import { arrows } from './ui.js';

/** The dialog is open. */
export const isHistoryOpen = signal(false);

/** The changes as a list; each leads back, or forward again, to itself. */
export function History() {
	const box = useRef(), { history, at } = current().mapping;
	useEffect(() => {
		const before = document.activeElement;
		box.current.showModal();
		return () => { if (before instanceof HTMLElement && before.isConnected) before.focus(); };
	}, []);
	const close = () => box.current.close();
	const go = async (n) => (n < at ? await takeIn() && undo(n) : n > at && redo(n));
	return html`<dialog ref=${box} aria-labelledby="dialog-title" onClose=${() => { isHistoryOpen.value = false; }}
		onClick=${(e) => { if (e.target === box.current) close(); }}>
		<header><h2 id="dialog-title">Changes of this session</h2>
			<button type="button" class="quiet" aria-label="Close" onClick=${close}>✕</button></header>
		<div class="dialog-body">
			<p class="faint">Choose a line to go back to it, or forward again. What is undone stays in the list until you change something else.</p>
			<ol class="history" onKeyDown=${arrows('li button')}>${history.map((label, n) => html`<li key=${n} class=${n > at ? 'undone' : ''}>
				<button type="button" aria-current=${n === at ? 'step' : undefined} onClick=${() => go(n)}>${label}</button></li>`)}</ol>
		</div>
	</dialog>`;
}
