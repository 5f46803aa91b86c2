// @ts-check
// A field to pick one of many by typing a part of its name: the combobox of the ARIA Authoring Practices.

import { html, useEffect, useId, useRef, useState } from './lib.js';
import { current } from './store.js';

/** @typedef {{value: string, words: string, more?: string, group?: string}} Item more stands behind the words, fainter */

/** @param {{label: string, items: Item[], value?: string, onPick: (value: string) => void, placeholder?: string}} props */
export function Picker({ label, items, value = '', onPick, placeholder = 'Type a part of the name' }) {
	const id = useId(), list = useRef();
	const shown = items.find((i) => i.value === value)?.words || value;
	const [typed, setTyped] = useState(/** @type {string|null} */ (null)); // null while the list is closed
	const [at, setAt] = useState(0);
	const isDone = useRef(false); // Enter picked; it must not send the form too
	const open = typed !== null;
	const found = open ? matching(items, typed === shown ? '' : typed) : [];
	useEffect(() => { list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' }); }, [at, open]);

	const show = () => { if (!open) { setTyped(shown); setAt(Math.max(0, items.findIndex((i) => i.value === value))); } };
	const close = () => setTyped(null);
	/** @param {Item|undefined} item */
	const pick = (item) => { if (item) { close(); if (item.value !== value) onPick(item.value); } };
	/** Leaves the field: a name that is typed to its end is picked. */
	const leave = () => {
		const whole = (typed || '').trim().toLowerCase();
		const named = items.filter((i) => whole && [i.value, i.words].some((name) => name.toLowerCase() === whole));
		if (named.length === 1) pick(named[0]);
		close();
	};
	const key = (e) => {
		isDone.current = e.key === 'Enter' && open;
		const step = { ArrowDown: 1, ArrowUp: -1 }[e.key];
		if (e.key === 'Tab') leave();
		if (!step && !(open && ['Enter', 'Escape'].includes(e.key))) return;
		e.preventDefault();
		if (!open) show();
		else if (step) setAt((at + step + found.length) % Math.max(1, found.length));
		else if (e.key === 'Enter') pick(found[at]);
		else close();
	};
	return html`<div class="picker">
		<label id=${id + 'l'} for=${id}>${label}</label>
		<input id=${id} role="combobox" autocomplete="off" spellcheck=${false} aria-expanded=${open ? 'true' : 'false'} aria-controls=${id + 'b'}
			aria-autocomplete="list" aria-activedescendant=${found[at] ? id + 'o' + at : undefined} value=${open ? typed : shown} placeholder=${placeholder}
			onInput=${(e) => { setTyped(e.target.value); setAt(0); }} onClick=${show} onBlur=${leave} onKeyDown=${key}
			onKeyPress=${(e) => { if (isDone.current) e.preventDefault(); }} />
		<ul id=${id + 'b'} class="options" role="listbox" aria-labelledby=${id + 'l'} hidden=${!open} ref=${list}>
			${found.map((item, n) => html`
				${item.group && item.group !== found[n - 1]?.group && html`<li role="presentation" class="group">${item.group}</li>`}
				<li id=${id + 'o' + n} role="option" aria-selected=${n === at ? 'true' : 'false'}
					onMouseDown=${(e) => { e.preventDefault(); pick(item); }}>${item.words} <span class="faint">${item.more}</span></li>`)}
			${open && !found.length && html`<li role="option" aria-disabled="true" aria-selected="false" class="faint">
				Nothing has “${typed}” in its name</li>`}
		</ul>
	</div>`;
}

/** The items that have every typed word in their words; at most 200. @param {Item[]} items @param {string} typed */
function matching(items, typed) {
	const words = typed.toLowerCase().split(/\s+/);
	return items.filter((i) => words.every((w) => `${i.words} ${i.more || ''} ${i.group || ''}`.toLowerCase().includes(w))).slice(0, 200);
}

/** How the mapping names a column: a header that several columns have with its letter. @param {import('./types.js').Column} c */
export const columnName = (c) => (c.shared ? `${c.header} [${c.letter}]` : c.header);

/** Picks a column of the sheet. @param {{label?: string, value?: string, without?: string[], onPick: (column: string) => void}} props */
export const ColumnPicker = ({ label = 'Column', value, without = [], onPick }) => html`<${Picker} label=${label} value=${value} onPick=${onPick}
	placeholder="Type a part of the header" items=${current().columns.filter((c) => c.header && !without.includes(columnName(c))).map((c) => ({
		value: columnName(c), words: `${c.letter} · ${c.header}`, more: c.samples.slice(0, 2).join(', ') }))} />`;
