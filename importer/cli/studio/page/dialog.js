// @ts-check
// A dialog over the page: the browser keeps the focus inside it, Escape closes it, and what had the focus before has it again.

import { html, useEffect, useRef } from './lib.js';

/** @param {{title: string, onClose: () => void, wide?: boolean, close?: {current: () => void}, children?: any}} props close gets how to close it */
export function Dialog({ title, onClose, wide = false, close, children }) {
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
