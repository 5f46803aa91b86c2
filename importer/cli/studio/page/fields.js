// @ts-check
// The fields of forms: texts, choices, one of many by typing a part of its name, and columns in an order or inside a text.

import { html, useEffect, useId, useRef, useState } from './lib.js';
import { current } from './store.js';

/** A field with its label: a text, several lines, or one of few. What is typed stands as it is while the field has the focus.
 * @param {{label: any, value: any, onValue: (value: string) => void, options?: [string, any][], lines?: number, offers?: string[], hint?: any,
 *   inline?: boolean, isCode?: boolean, isNumber?: boolean, field?: {current: any}}} props lines makes it several; field gets the element */
export function Field({ label, value, onValue, options, lines, offers = [], hint, inline, isCode, isNumber, field }) {
	const id = useId();
	const [typed, setTyped] = useState(/** @type {string|null} */ (null));
	const own = { id, 'aria-describedby': hint ? id + 'h' : undefined };
	const text = { ...own, ref: field, value: typed ?? value, class: isCode ? 'code' : undefined, spellcheck: isCode ? false : undefined,
		onInput: (e) => { setTyped(e.target.value); onValue(e.target.value); }, onBlur: () => setTyped(null) };
	return html`<p class=${inline ? 'field inline' : 'field'}><label for=${id}>${label}</label>
		${options ? html`<select ...${own} value=${value} onChange=${(e) => onValue(e.target.value)}>
			${options.map(([name, words]) => html`<option key=${name} value=${name}>${words}</option>`)}</select>`
		: lines ? html`<textarea ...${text} rows=${lines}></textarea>`
		: html`<input ...${text} list=${offers.length ? id + 'l' : undefined} inputmode=${isNumber ? 'numeric' : undefined} />`}
		${offers.length > 0 && html`<datalist id=${id + 'l'}>${offers.map((o) => html`<option value=${o}></option>`)}</datalist>`}
		${hint && html`<span id=${id + 'h'} class="faint">${hint}</span>`}</p>`;
}

/** Choices that are all to be seen; each has its words and what it does.
 * @param {{legend: string, kind: 'ways'|'choices', value: any, options: [string, any, string?][], onPick: (value: string) => void}} props */
export function Radios({ legend, kind, value, options, onPick }) {
	const id = useId();
	return html`<fieldset class=${kind}><legend>${legend}</legend>${options.map(([name, words, does], n) => html`
		<label key=${name}><input type="radio" name=${id} aria-describedby=${does ? id + n : undefined} checked=${name === value}
			onChange=${() => onPick(name)} /><span>${words}</span></label>${does && html`<p id=${id + n} class="faint">${does}</p>`}`)}</fieldset>`;
}

/** A list of columns in an order. @param {{label: string, list: string[], onList: (list: string[]) => void}} props */
export function OrderedColumns({ label, list, onList }) {
	const move = (from, to) => {
		if (to >= 0 && to < list.length) onList(list.toSpliced(from, 1).toSpliced(to, 0, list[from]));
	};
	const arrow = (n, to) => html`<button type="button" class="quiet"
		aria-disabled=${to < 0 || to >= list.length ? 'true' : undefined} aria-label=${`Move ${list[n]} ${to < n ? 'up' : 'down'}`}
		onClick=${() => move(n, to)}>${to < n ? '↑' : '↓'}</button>`;
	return html`<fieldset class="ordered"><legend>${label}</legend>
		<ol>${list.map((name, n) => html`<li key=${name} tabindex="-1"><span>${name}</span>${arrow(n, n - 1)}${arrow(n, n + 1)}
			<button type="button" class="quiet" aria-label=${`Remove ${name}`} onClick=${() => onList(list.toSpliced(n, 1))}>✕</button></li>`)}</ol>
		<${ColumnPicker} label=${list.length ? 'Add a column' : 'Column'} without=${list} onPick=${(c) => onList([...list, c])} />
	</fieldset>`;
}

/** The texts into which columns can be put: what each is called, how a column is written in it, and what helps.
 * @type {Record<'text'|'expr', [string, (header: string) => string, any]>} */
const texts = {
	text: ['Text', (h) => `{${h}}`, html`<span class="code">{Header}</span> stands for the cell of that column.`],
	expr: ['Formula', (h) => `col(${JSON.stringify(h)})`, html`<span class="code">col("Header")</span> is the text of a cell, <span
		class="code">num("Header")</span> its number, <span class="code">date("Header")</span> its day, <span
		class="code">has("Header")</span> whether it is filled.`],
};

/** A text into which columns can be put at the cursor.
 * @param {{kind: 'text'|'expr', label?: string, text: any, onText: (text: string) => void}} props */
export function TextWithColumns({ kind, label, text, onText }) {
	const field = useRef(), [name, write, hint] = texts[kind], value = String(text ?? '');
	const insert = (header) => {
		const { selectionStart: from, selectionEnd: to } = field.current, piece = write(header);
		onText(value.slice(0, from) + piece + value.slice(to));
		requestAnimationFrame(() => { field.current?.focus(); field.current?.setSelectionRange(from + piece.length, from + piece.length); });
	};
	return html`<div class="with-columns">
		<${Field} label=${label || name} value=${value} onValue=${onText} lines=${2} isCode=${true} field=${field} hint=${hint} />
		<${ColumnPicker} label="Insert a column" onPick=${insert} />
	</div>`;
}

/** The conditions that need no formula: how each is written, with the texts that it asks for. Cells are read without blanks around them.
 * @type {Record<string, [string, ''|'text'|'list', (column: string, texts: string[]) => string]>} */
const relations = {
	filled: ['is filled', '', (c) => `has(${c})`],
	empty: ['is empty', '', (c) => `!has(${c})`],
	is: ['is', 'text', (c, [text]) => `col(${c}) == ${text}`],
	'is-not': ['is not', 'text', (c, [text]) => `col(${c}) != ${text}`],
	'one-of': ['is one of', 'list', (c, texts) => `col(${c}) in [${texts.join(', ')}]`],
	has: ['contains', 'text', (c, [text]) => `col(${c}) contains ${text}`],
};

/** A condition on a row. @param {import('./editor.js').Fields} props */
export function Condition({ draft, onDraft }) {
	const none = { column: '', relation: 'filled', text: '' };
	const [asked, setAsked] = useState(none);
	const set = (name) => (to) => setAsked({ ...asked, [name]: to });
	const [, asks, write] = relations[asked.relation];
	const said = asked.relation === 'has' ? [asked.text].filter((text) => text.trim()) : textsOf(asked.text); // blanks inside a cell stay
	const texts = said.map((text) => JSON.stringify(text));
	const piece = asked.column && (!asks || texts.length) ? write(JSON.stringify(asked.column), texts) : '';
	const take = () => { if (piece) { onDraft(draft ? `(${draft}) && ${piece}` : piece); setAsked(none); } };
	return html`<fieldset class="condition"><legend>Only rows in which</legend>
			<${ColumnPicker} value=${asked.column} onPick=${set('column')} />
			<${Field} label="says" value=${asked.relation} onValue=${set('relation')}
				options=${Object.entries(relations).map(([name, [words]]) => [name, words])} />
			${asks && html`<${Field} label=${asks === 'list' ? 'Texts, one in each line' : 'Text'} lines=${asks === 'list' ? 3 : 0} value=${asked.text}
				onValue=${set('text')} />`}
			<button type="button" aria-disabled=${piece ? undefined : 'true'} onClick=${take}>${draft ? 'And this too' : 'Take this'}</button>
		</fieldset>
		<${TextWithColumns} kind="expr" label="The condition as a formula" text=${draft} onText=${(t) => onDraft(t || null)} />`;
}

/** The texts of lines, as cells are read; empty lines are none. @param {string} text */
export const textsOf = (text) => text.split('\n').map((line) => line.trim()).filter(Boolean);

/** @typedef {{value: string, words: string, more?: string, group?: string}} Item more stands behind the words, fainter */

/** A field to pick one of many by typing a part of its name: the combobox of the ARIA Authoring Practices.
 * @param {{label: string, items: Item[], value?: string, onPick: (value: string) => void, placeholder?: string}} props */
export function Picker({ label, items, value = '', onPick, placeholder = 'Type a part of the name' }) {
	const id = useId(), list = useRef();
	const shown = items.find((i) => i.value === value)?.words || value;
	const [typed, setTyped] = useState(/** @type {string|null} */ (null)); // null while the list is closed
	const [at, setAt] = useState(0);
	const open = typed !== null;
	const words = typed === shown ? [] : (typed || '').toLowerCase().split(/\s+/);
	const has = (/** @type {Item} */ i) => words.every((word) => [i.words, i.more, i.group].join(' ').toLowerCase().includes(word));
	const found = open ? items.filter(has).slice(0, 200) : [];
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
			onInput=${(e) => { setTyped(e.target.value); setAt(0); }} onClick=${show} onBlur=${leave} onKeyDown=${key} />
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

/** How the mapping names a column: a header that several columns have with its letter. @param {import('./types.js').Column} c */
export const columnName = (c) => (c.shared ? `${c.header} [${c.letter}]` : c.header);

/** Picks a column of the sheet. @param {{label?: string, value?: string, without?: string[], onPick: (column: string) => void}} props */
export const ColumnPicker = ({ label = 'Column', value, without = [], onPick }) => html`<${Picker} label=${label} value=${value} onPick=${onPick}
	placeholder="Type a part of the header" items=${current().columns.filter((c) => c.header && !without.includes(columnName(c))).map((c) => ({
		value: columnName(c), words: `${c.letter} · ${c.header}`, more: c.samples.slice(0, 2).join(', ') }))} />`;
