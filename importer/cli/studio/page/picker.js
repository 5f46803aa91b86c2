// @ts-check
// A field to pick one of many by typing a part of its name: the combobox of the ARIA Authoring Practices.

import { html, useEffect, useId, useRef, useState } from './lib.js';

/** @typedef {{value: string, words: string, more?: string, group?: string, off?: string}} Item
 *   more stands behind the words, fainter; off says why the item cannot be picked */

const most = 200;

/** @param {{label: string, items: Item[], value?: string, placeholder?: string, onPick: (value: string) => void, hideLabel?: boolean}} props
 * @param {{label: string, items: Item[], value?: string, placeholder?: string, onPick: (value: string) => void, hideLabel?: boolean}} props */
export function Picker({ label, items, value = '', placeholder = '', onPick, hideLabel = false }) {
	const id = useId();
	const chosen = items.find((i) => i.value === value);
	const shown = chosen ? chosen.words : value;
	const [typed, setTyped] = useState(/** @type {string|null} */ (null));
	const [at, setAt] = useState(0);
	const list = useRef();
	const isDone = useRef(false); // Enter picked; it must not send the form too
	const open = typed !== null;
	const found = open ? matching(items, typed === shown ? '' : typed || '') : [];

	useEffect(() => { list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' }); }, [at, open]);

	const show = () => { if (!open) { setTyped(shown); setAt(Math.max(0, items.findIndex((i) => i.value === value))); } };
	const close = () => setTyped(null);
	/** @param {Item|undefined} item */
	const pick = (item) => { if (item && !item.off) { close(); if (item.value !== value) onPick(item.value); } };
	/** Leaves the field: a name that is typed to its end is picked. */
	const leave = () => {
		const whole = (typed || '').trim().toLowerCase();
		const named = whole ? items.filter((i) => [i.value, i.words].some((name) => name.toLowerCase() === whole)) : [];
		if (named.length === 1) pick(named[0]);
		close();
	};
	const key = (/** @type {KeyboardEvent} */ e) => {
		isDone.current = e.key === 'Enter' && open;
		if (e.key === 'ArrowDown' || e.key === 'ArrowUp') {
			e.preventDefault();
			if (!open) return show();
			const step = e.key === 'ArrowDown' ? 1 : -1;
			setAt((at + step + found.length) % Math.max(1, found.length));
		} else if (e.key === 'Enter' && open) {
			e.preventDefault();
			pick(found[at]);
		} else if (e.key === 'Escape' && open) {
			e.preventDefault();
			close();
		} else if (e.key === 'Tab') leave();
	};
	let group = '';
	return html`<div class="picker">
		<label id=${id + 'l'} for=${id} class=${hideLabel ? 'hidden' : ''}>${label}</label>
		<input id=${id} role="combobox" autocomplete="off" spellcheck=${false} aria-expanded=${open ? 'true' : 'false'} aria-controls=${id + 'b'}
			aria-autocomplete="list"
			aria-activedescendant=${open && found[at] ? id + 'o' + at : undefined} value=${open ? typed : shown} placeholder=${placeholder}
			onInput=${(/** @type {any} */ e) => { setTyped(e.target.value); setAt(0); }} onClick=${show} onKeyDown=${key} onKeyPress=${(/** @type {Event} */ e) => { if (isDone.current) e.preventDefault(); }} onBlur=${leave} />
		<ul id=${id + 'b'} class="options" role="listbox" aria-labelledby=${id + 'l'} hidden=${!open} ref=${list}>
			${found.map((item, n) => {
				const heading = item.group && item.group !== group ? (group = item.group) : '';
				return html`${heading && html`<li role="presentation" class="group">${heading}</li>`}
				<li id=${id + 'o' + n} role="option" aria-selected=${n === at ? 'true' : 'false'} aria-disabled=${item.off ? 'true' : undefined}
					onMouseDown=${(/** @type {Event} */ e) => { e.preventDefault(); pick(item); }}>
						${item.words} <span class="faint">${item.off || item.more}</span></li>`;
			})}
			${open && !found.length && html`<li role="option" aria-disabled="true" aria-selected="false"
				class="faint">Nothing has “${typed}” in its name</li>`}
		</ul>
	</div>`;
}

/** The items that have every typed word in their words; at most 200. @param {Item[]} items @param {string} typed */
function matching(items, typed) {
	const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
	return items.filter((i) => {
		const text = `${i.words} ${i.more || ''} ${i.group || ''}`.toLowerCase();
		return words.every((w) => text.includes(w));
	}).slice(0, most);
}

/** How the mapping names a column: a header that stands twice with its letter. @param {import('./types.js').Column} c */
export const columnName = (c) => (c.shared ? `${c.header} [${c.letter}]` : c.header);

/** The columns of the sheet as items. @param {import('./types.js').Column[]} columns @returns {Item[]} */
export function columnItems(columns) {
	return columns.filter((c) => c.header).map((c) => ({
		value: columnName(c), words: `${c.letter} · ${c.header}`, more: c.samples.slice(0, 2).join(', '),
	}));
}
