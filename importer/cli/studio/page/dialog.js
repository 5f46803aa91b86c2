// @ts-check
// A dialog over the page: the browser keeps the focus inside it, and Escape closes it.

import { html, useEffect, useRef } from './lib.js';

/** @param {{title: string, onClose: () => void, children?: any}} props */
export function Dialog({ title, onClose, children }) {
	const box = useRef();
	useEffect(() => { box.current.showModal(); }, []);
	const outside = (/** @type {Event} */ e) => { if (e.target === box.current) box.current.close(); };
	return html`<dialog ref=${box} aria-labelledby="dialog-title" onClose=${onClose} onClick=${outside}>
		<header><h2 id="dialog-title">${title}</h2>
			<button type="button" class="quiet" aria-label="Close" onClick=${() => box.current.close()}>✕</button></header>
		<div class="dialog-body">${children}</div>
	</dialog>`;
}
